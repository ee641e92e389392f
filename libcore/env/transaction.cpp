#include "libcore/env/transaction.hpp"

#include "libcore/base/parallel.hpp"
#include "libcore/env/disk_internal.hpp"
#include "libcore/env/journal_internal.hpp"
#include "libcore/env/link_files_internal.hpp"
#include "libcore/env/link_plan_internal.hpp"
#include "libcore/env/link_script_internal.hpp"
#include "libcore/env/recovery_internal.hpp"
#include "libcore/fs/file.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <system_error>
#include <unistd.h>
#include <unordered_map>

namespace gpkg {
namespace {

Result<PrefixLock> acquire_lock(const fs::path& prefix, const TransactionOptions& options) {
    return PrefixLock::acquire(prefix, {options.lock_wait, options.cancelled, options.waiting});
}

/// The steps between the journal and its commit.
class Execution {
public:
    Execution(const Transaction& transaction,
              const TransactionOptions& options,
              Disk& disk,
              Plan& plan)
        : transaction_(transaction), options_(options), disk_(disk), plan_(plan) {}

    /// Up to and with the mark `committed`.
    Result<void> change();
    /// After a failure of change(): back to how it was.
    Error undo(Error failure);
    /// After change().
    Result<void> complete();
    TransactionReport take_report() { return std::move(report_); }

private:
    Result<void> move_out();
    Result<void> run_pre_unlink();
    Result<void> run_post_link();
    Result<void> run_post_unlink();
    Result<void> write_records();
    enum class Durability { Unsynced, Synced };
    Result<void> write_record(const std::string& name,
                              const std::string& text,
                              Durability durability = Durability::Unsynced);
    void collect_messages();
    Result<void> check_cancelled() const;

    const Transaction& transaction_;
    const TransactionOptions& options_;
    Disk& disk_;
    Plan& plan_;
    TransactionReport report_;
    std::vector<std::string> foreign_;
};

Result<void> Execution::check_cancelled() const {
    if (options_.cancelled && options_.cancelled())
        return fail(ErrorKind::Interrupted, "interrupted");
    return {};
}

/// Children before the folders or links they lie in.
Result<void> Execution::move_out() {
    const auto& leaving = plan_.journal.leaving;
    std::vector<std::size_t> order(leaving.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return leaving[a] > leaving[b];
    });
    std::size_t done = 0;
    for (const auto place : order) {
        if (done % 64 == 0) GPKG_CHECK(check_cancelled());
        const int code = disk_.rename(leaving[place], old_path(place));
        // Gone since the plan was made is as good.
        if (code != 0 && code != ENOENT) return pass(disk_.error(leaving[place], "move", code));
        if (options_.progress && ++done % 256 == 0)
            options_.progress("unlinking", done, leaving.size());
    }
    return {};
}

Result<void> Execution::run_pre_unlink() {
    for (const auto& record : transaction_.unlink) {
        GPKG_CHECK(check_cancelled());
        GPKG_CHECK(run_pre_unlink_script(
            disk_, record, options_, [&](const auto& text) { report_.warnings.push_back(text); }));
    }
    return {};
}

Result<void> Execution::run_post_link() {
    for (const auto& package : plan_.packages) {
        if (package.request == nullptr) continue;
        const auto& record = package.request->record;
        const auto script = link_script_path(record.name, "post-link");
        // Not what another package put in its place: it is this one's script that may run.
        if (!package.links(script)) continue;
        GPKG_TRY(const bool there, disk_.exists(script));
        if (!there) continue;
        GPKG_CHECK(check_cancelled());
        GPKG_CHECK(
            run_link_script(disk_, {&record, "post-link", disk_.prefix() / script}, options_));
    }
    return {};
}

/// The script itself has been moved out of the prefix by now.
Result<void> Execution::run_post_unlink() {
    const auto& leaving = plan_.journal.leaving;
    for (const auto& record : transaction_.unlink) {
        const auto script = link_script_path(record.package.name, "post-unlink");
        const auto found = std::find(leaving.begin(), leaving.end(), script);
        if (found == leaving.end()) continue;
        const auto place = static_cast<std::size_t>(found - leaving.begin());
        GPKG_CHECK(run_link_script(
            disk_, {&record.package, "post-unlink", disk_.prefix() / old_path(place)}, options_));
    }
    return {};
}

Result<void> Execution::write_record(const std::string& name,
                                     const std::string& text,
                                     Durability durability) {
    const auto path = journal_path("records/" + name);
    for (auto slash = name.find('/'); slash != std::string::npos;
         slash = name.find('/', slash + 1)) {
        const auto folder = journal_path("records/" + name.substr(0, slash));
        if (const int code = disk_.make_folder(folder); code != 0 && code != EEXIST)
            return pass(disk_.error(folder, "make", code));
    }
    const int code = durability == Durability::Synced ? disk_.write_durably(path, text)
                                                      : disk_.write(path, text, 0644);
    if (code != 0) return pass(disk_.error(path, "write", code));
    return {};
}

Result<void> Execution::write_records() {
    std::vector<std::string> texts(plan_.packages.size());
    const auto threads = texts.size() > 8 ? options_.threads : 1;
    for_each_index(texts.size(), threads, [&](std::size_t i) {
        if (plan_.packages[i].request != nullptr)
            texts[i] = installed_record(plan_.packages[i]).to_json();
    });
    for (std::size_t i = 0; i < texts.size(); ++i) {
        if (plan_.packages[i].request != nullptr)
            GPKG_CHECK(write_record(plan_.packages[i].distribution + ".json", texts[i]));
    }
    for (const auto& rewrite : transaction_.rewrite) {
        const auto* record = find_record(plan_.installed, rewrite.name);
        const auto linked = std::any_of(
            transaction_.link.begin(), transaction_.link.end(), [&](const auto& request) {
                return request.record.name == rewrite.name;
            });
        if (record == nullptr || linked) continue;
        auto changed = *record;
        apply(rewrite, changed);
        GPKG_CHECK(write_record(changed.file_name(), changed.to_json()));
    }
    if (transaction_.state)
        GPKG_CHECK(write_record(std::string(kStateFile), transaction_.state->to_json()));
    // They hold every record once more: what a failing machine loses of the others, repair makes
    // again of the newest.
    for (const auto& [name, text] : plan_.generations)
        GPKG_CHECK(write_record(name, text, Durability::Synced));
    if (transaction_.variables.empty()) return {};
    GPKG_TRY(const auto state, with_env_vars(disk_.prefix(), transaction_.variables));
    const auto hidden =
        transaction_.variables_kept_from | kept_from(disk_.prefix() / kVariablesFile);
    const auto path = journal_path("records/state");
    if (const int code = disk_.write(path, state, 0644U & ~hidden); code != 0)
        return pass(disk_.error(path, "write", code));
    return {};
}

/// Scripts leave words for the user in .messages.txt (CEP 34).
void Execution::collect_messages() {
    if (!disk_.exists(".messages.txt").value_or(false)) return;
    report_.messages += disk_.read(".messages.txt").value_or("");
    disk_.remove(".messages.txt");
}

Result<void> Execution::change() {
    report_.cost = plan_.cost;
    report_.warnings = plan_.cost.warnings;
    GPKG_CHECK(run_pre_unlink());
    GPKG_CHECK(move_out());
    GPKG_CHECK(mark(disk_, "linking"));
    GPKG_CHECK(link_files(disk_, plan_, options_, report_, foreign_));
    GPKG_CHECK(compile_files(disk_, plan_, options_, report_));
    GPKG_CHECK(run_post_link());
    collect_messages();
    GPKG_CHECK(write_records());
    if (options_.completing) {
        GPKG_CHECK(mark(disk_, "untold"));
        GPKG_CHECK(options_.completing());
    }
    GPKG_CHECK(check_cancelled());
    return mark(disk_, "committed");
}

Error Execution::undo(Error failure) {
    auto& arriving = plan_.journal.arriving;
    std::erase_if(arriving, [&](const std::string& path) {
        return std::find(foreign_.begin(), foreign_.end(), path) != foreign_.end();
    });
    if (auto undone = roll_back(disk_, plan_.journal); !undone) {
        failure.message += fmt::format("; undoing the change failed: {}", undone.error().message);
        failure.hint = "the next gpkg command that changes this environment tries again";
    }
    return failure;
}

Result<void> Execution::complete() {
    if (auto ran = run_post_unlink(); !ran) report_.warnings.push_back(ran.error().message);
    collect_messages();
    auto finished = finish(disk_, plan_.journal);
    if (finished) return {};
    auto error = std::move(finished).error();
    error.message += "; the packages are linked, but not all records are written";
    return pass(
        with_environment_hint(std::move(error), "to finish: gpkg repair {}", transaction_.prefix));
}

/// A conda-meta that holds nothing is what a stopped first transaction left.
void remove_empty_meta(const fs::path& prefix) {
    std::error_code ignored;
    if (!Prefix::is_environment(prefix)) fs::remove(prefix / "conda-meta", ignored);
}

/// An error about the neighbouring name that a prefix is made under, told of the prefix.
Error about(const fs::path& prefix, const fs::path& staging, Error error) {
    if (const auto at = error.message.find(staging.native()); at != std::string::npos)
        error.message.replace(at, staging.native().size(), prefix.native());
    return error;
}

/// What a stopped creation left beside the prefix.
Result<Recovery> remove_staging(const fs::path& prefix, const TransactionOptions& options) {
    const auto staging = staging_path(prefix);
    GPKG_TRY(const bool there, path_exists(staging));
    if (!there) return Recovery::Nothing;
    auto lock = acquire_lock(staging, options);
    // Nothing had stopped: whoever was at work there has finished.
    if (!lock && !is_there(staging)) return Recovery::Nothing;
    if (!lock) return pass(about(prefix, staging, std::move(lock).error()));
    // Before the journal nothing is there but the lock, which the one waiting for it may have made.
    GPKG_TRY(const bool begun, path_exists(staging / std::string(kJournalFolder)));
    if (options.fault && options.fault("remove tree", staging) != 0)
        return fail(ErrorKind::Io, fmt::format("{}: cannot remove", staging.native()));
    // Another may be at it too.
    if (auto removed = remove_tree(staging); !removed && is_there(staging))
        return pass(std::move(removed).error());
    return begun ? Recovery::RolledBack : Recovery::Nothing;
}

Result<TransactionReport> run_steps(const Transaction& transaction,
                                    const TransactionOptions& options,
                                    Disk& disk,
                                    Plan& plan) {
    Execution execution(transaction, options, disk, plan);
    if (auto changed = execution.change(); !changed)
        return pass(execution.undo(std::move(changed).error()));
    GPKG_CHECK(execution.complete());
    return execution.take_report();
}

Error made_meanwhile(const fs::path& prefix) {
    return with_environment_hint(
        {ErrorKind::Conflict,
         fmt::format("{}: created by another process meanwhile", prefix.native()),
         {},
         {}},
        "to add packages: gpkg install {0}; to remove it: gpkg remove --all {0}",
        prefix);
}

Result<TransactionReport> create(const Transaction& transaction,
                                 const TransactionOptions& options) {
    GPKG_TRY(auto plan, make_plan(transaction, options));
    if (options.planned) {
        GPKG_CHECK(options.planned(plan.cost));
    }
    const auto& prefix = transaction.prefix;
    const auto staging = staging_path(prefix);
    // Who finds the environment made takes its staging folder away, and may take what another has
    // begun to put there: whatever that one stumbles over then, the environment is there.
    const auto failed = [&](Error error) {
        return path_exists(prefix).value_or(false) ? made_meanwhile(prefix)
                                                   : about(prefix, staging, std::move(error));
    };
    GPKG_CHECK(make_folders(prefix.parent_path()));
    if (auto removed = remove_staging(prefix, options); !removed)
        return pass(failed(std::move(removed).error()));
    auto lock = acquire_lock(staging, options);
    if (!lock) return pass(failed(std::move(lock).error()));
    auto opened = Disk::open(staging, options.fault);
    if (!opened) return pass(failed(std::move(opened).error()));
    auto disk = std::move(*opened);
    const auto appear = [&]() -> Result<void> {
        GPKG_CHECK(write_journal(disk, plan.journal));
        if (const int code = disk.announce("rename", staging); code != 0)
            return pass(io_error(staging, "rename", code));
        GPKG_TRY(const bool is_made, path_exists(prefix));
        if (is_made) return pass(made_meanwhile(prefix));
        return rename_path(staging, prefix);
    };
    if (auto appeared = appear(); !appeared) {
        std::error_code ignored;
        // The lock last: who finds a journal without one takes it for an interrupted command's.
        fs::remove_all(staging / std::string(kJournalFolder), ignored);
        fs::remove_all(staging, ignored);
        return pass(failed(std::move(appeared).error()));
    }
    disk.moved_to(prefix);
    lock->moved_to(prefix);
    auto report = run_steps(transaction, options, disk, plan);
    if (report && !lock->warning().empty()) report->warnings.push_back(lock->warning());
    lock->release();
    if (!report) remove_empty_meta(prefix);
    return report;
}

Result<TransactionReport> change_locked(const Transaction& transaction,
                                        const TransactionOptions& options) {
    GPKG_TRY(auto disk, Disk::open(transaction.prefix, options.fault));
    GPKG_CHECK(recover_locked(disk));
    if (transaction.creates) {
        const auto made = Prefix::open(transaction.prefix);
        if (made) return pass(made_meanwhile(transaction.prefix));
        if (made.error().kind != ErrorKind::NoEnvironment) return pass(made.error());
    }
    GPKG_TRY(auto plan, make_plan(transaction, options));
    if (options.planned) {
        GPKG_CHECK(options.planned(plan.cost));
    }
    GPKG_TRY(const bool has_messages, disk.exists(".messages.txt"));
    if (!has_messages) plan.journal.arriving.emplace_back(".messages.txt");
    if (auto written = write_journal(disk, plan.journal); !written) {
        disk.remove_tree(std::string(kJournalFolder));
        return pass(std::move(written).error());
    }
    return run_steps(transaction, options, disk, plan);
}

Result<TransactionReport> change_existing(const Transaction& transaction,
                                          const TransactionOptions& options) {
    GPKG_TRY(auto lock, acquire_lock(transaction.prefix, options));
    auto report = change_locked(transaction, options);
    if (report && !lock.warning().empty()) report->warnings.push_back(lock.warning());
    lock.release();
    if (!report) remove_empty_meta(transaction.prefix);
    return report;
}

}  // namespace

std::optional<LinkMethod> link_method_of(std::string_view word) {
    if (word == "auto") return LinkMethod::Auto;
    if (word == "hardlink") return LinkMethod::HardLink;
    if (word == "reflink") return LinkMethod::Reflink;
    if (word == "copy") return LinkMethod::Copy;
    return std::nullopt;
}

Result<TransactionCost> preflight(const Transaction& transaction,
                                  const TransactionOptions& options) {
    GPKG_TRY(const auto plan, make_plan(transaction, options));
    return plan.cost;
}

Result<TransactionReport> execute(const Transaction& transaction,
                                  const TransactionOptions& options) {
    // Before anything is made, a lock file included.
    if (!options.override_frozen) GPKG_CHECK(check_not_frozen(transaction.prefix));
    GPKG_TRY(const bool exists, path_exists(transaction.prefix));
    return exists ? change_existing(transaction, options) : create(transaction, options);
}

Result<Recovery> recover_locked(Disk& disk) {
    const auto file = journal_path("plan.json");
    const auto text = disk.read(file);
    if (!text && text.error().kind != ErrorKind::NotFound) return pass(text.error());
    if (!text) {
        GPKG_TRY(const bool litter, disk.exists(std::string(kJournalFolder)));
        if (!litter) return Recovery::Nothing;
        if (const int code = disk.remove_tree(std::string(kJournalFolder)); code != 0)
            return pass(disk.error(std::string(kJournalFolder), "remove", code));
        return Recovery::Nothing;
    }
    GPKG_TRY(const auto plan, JournalPlan::parse(*text, (disk.prefix() / file).native()));
    GPKG_TRY(const bool committed, disk.exists(journal_path("committed")));
    GPKG_CHECK(committed ? finish(disk, plan) : roll_back(disk, plan));
    return committed ? Recovery::Completed : Recovery::RolledBack;
}

PrefixCondition prefix_condition(const fs::path& prefix) {
    const auto by_lock = [](const fs::path& folder) {
        return PrefixLock::is_held(folder) ? PrefixCondition::Busy : PrefixCondition::Interrupted;
    };
    if (!is_there(prefix)) {
        for (const auto& rest : {staging_path(prefix), grave_path(prefix)}) {
            if (is_there(rest)) return by_lock(rest);
        }
        return PrefixCondition::Settled;
    }
    if (is_there(prefix / journal_path("plan.json")) || is_half_removed(prefix))
        return by_lock(prefix);
    return PrefixCondition::Settled;
}

std::vector<std::string> unfinished_files(const fs::path& prefix) {
    const auto file = prefix / journal_path("plan.json");
    const auto text = read_file(file);
    if (!text) return {};
    auto plan = JournalPlan::parse(*text, file.native());
    return plan ? std::move(plan->arriving) : std::vector<std::string>();
}

std::string unfinished_command(const fs::path& prefix) {
    const auto file = prefix / journal_path("plan.json");
    const auto text = read_file(file);
    if (!text) return {};
    auto plan = JournalPlan::parse(*text, file.native());
    return plan ? std::move(plan->command) : std::string();
}

Result<Recovery> recover(const fs::path& prefix, const TransactionOptions& options) {
    GPKG_TRY(const auto removed, finish_removal(prefix, options));
    GPKG_TRY(auto staged, remove_staging(prefix, options));
    if (staged == Recovery::Nothing) staged = removed;
    GPKG_TRY(const bool litter, path_exists(prefix / std::string(kJournalFolder)));
    GPKG_TRY(const bool has_meta, path_exists(prefix / "conda-meta"));
    const bool half_made = has_meta && !Prefix::is_environment(prefix);
    // A killed process leaves its lock file, which holds nothing any more.
    GPKG_TRY(const bool lock_file, path_exists(prefix / "conda-meta" / ".gpkg-lock"));
    if (!litter && !half_made && !lock_file) return staged;

    GPKG_TRY(auto lock, acquire_lock(prefix, options));
    GPKG_TRY(auto disk, Disk::open(prefix, options.fault));
    auto recovered = recover_locked(disk);
    lock.release();
    if (recovered) remove_empty_meta(prefix);
    return recovered;
}

Result<std::optional<fs::path>> set_damaged_journal_aside(const fs::path& prefix,
                                                          const TransactionOptions& options) {
    const auto file = prefix / journal_path("plan.json");
    GPKG_TRY(const bool there, path_exists(file));
    if (!there) return std::nullopt;
    GPKG_TRY(auto lock, acquire_lock(prefix, options));
    const auto text = read_file(file);
    if (!text && text.error().kind == ErrorKind::NotFound) return std::nullopt;  // finished now
    if (!text) return pass(text.error());
    if (JournalPlan::parse(*text, file.native())) return std::nullopt;
    const auto journal = prefix / std::string(kJournalFolder);
    auto aside = journal.native() + ".damaged";
    for (int number = 2; is_there(aside); ++number)
        aside = fmt::format("{}.damaged-{}", journal.native(), number);
    GPKG_CHECK(rename_path(journal, aside));
    return aside;
}

}  // namespace gpkg
