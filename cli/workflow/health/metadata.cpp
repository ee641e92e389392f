#include "cli/workflow/health/metadata.hpp"

#include "cli/workflow/fetch.hpp"
#include "cli/workflow/sources.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/history.hpp"
#include "libcore/env/prefix_lock.hpp"
#include "libcore/package/paths.hpp"
#include "libcore/spec/names.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace gpkg::cli {
namespace {

/// What is lost, and what is left to make it of.
struct Loss {
    bool history = false;
    bool state = false;
    std::vector<UnreadableRecord> records;
    /// Of packages that have several records, all but one: what a killed tool left.
    std::vector<PrefixRecord> doubled;
    std::optional<Generation> last;

    bool is_nothing() const { return !history && !state && records.empty() && doubled.empty(); }
};

bool takes_away(const HistoryEntry& entry, const std::string& distribution) {
    return std::any_of(entry.removed.begin(), entry.removed.end(), [&](const auto& removed) {
        return removed.ends_with("::" + distribution);
    });
}

/// Records that the last generation had and nobody has taken away or replaced since.
std::vector<UnreadableRecord> missing_records(const fs::path& prefix,
                                              const Generation& last,
                                              const std::vector<PrefixRecord>& records,
                                              const std::vector<HistoryEntry>& history) {
    auto since = std::find_if(
        history.rbegin(), history.rend(), [&](const auto& one) { return one.time == last.time; });
    std::vector<UnreadableRecord> missing;
    for (const auto& package : last.packages) {
        const auto distribution = package.record.distribution();
        const auto file = prefix / "conda-meta" / (distribution + ".json");
        std::error_code code;
        const bool is_gone = std::any_of(history.rbegin(), since, [&](const auto& entry) {
            return takes_away(entry, distribution);
        });
        const bool is_replaced = find_record(records, package.record.name) != nullptr;
        if (!is_gone && !is_replaced && !is_there(file))
            missing.push_back(
                {distribution,
                 {ErrorKind::NotFound, fmt::format("{}: is missing", file.native()), {}, {}}});
    }
    return missing;
}

/// Whether the generation has a block of its own: one of accelerators alone has none.
bool has_block(const fs::path& prefix,
               const std::vector<std::uint64_t>& numbers,
               const Generation& generation) {
    const auto place = std::ranges::find(numbers, generation.number);
    if (place == numbers.begin() || place == numbers.end()) return true;
    const auto before = read_generation(prefix, *std::prev(place));
    return !before || !same_packages(*before, generation);
}

/// Whether the history has the block of the generation, or any block where it has none, before
/// which all is there that was asked for.
bool tells_of(const std::vector<HistoryEntry>& history, const Generation& last, bool has_block) {
    const std::set<std::string> wanted(last.requested.begin(), last.requested.end());
    std::vector<HistoryEntry> so_far;
    so_far.reserve(history.size());
    for (const auto& entry : history) {
        so_far.push_back(entry);
        if (has_block && entry.time != last.time) continue;
        const auto asked = requested_specs(so_far);
        if (std::set<std::string>(asked.begin(), asked.end()) == wanted) return true;
    }
    return false;
}

/// Of several records of one package the one that counts: the last generation's, or else the
/// newest.
bool counts_more(const fs::path& prefix,
                 const std::optional<Generation>& last,
                 const PrefixRecord& a,
                 const PrefixRecord& b) {
    const auto is_of_last = [&](const PrefixRecord& record) {
        return last && std::any_of(last->packages.begin(), last->packages.end(), [&](auto& one) {
                   return one.record.distribution() == record.package.distribution();
               });
    };
    const auto time = [&](const PrefixRecord& record) {
        std::error_code ignored;
        return fs::last_write_time(prefix / "conda-meta" / record.file_name(), ignored);
    };
    if (is_of_last(a) != is_of_last(b)) return is_of_last(a);
    return time(a) > time(b);
}

std::vector<PrefixRecord> doubled_records(const fs::path& prefix,
                                          const std::optional<Generation>& last,
                                          const std::vector<PrefixRecord>& records) {
    std::map<std::string, const PrefixRecord*> kept;
    std::vector<PrefixRecord> doubled;
    for (const auto& record : records) {
        // Of a file of another name it is not known which it is.
        std::error_code ignored;
        if (!fs::exists(prefix / "conda-meta" / record.file_name(), ignored)) continue;
        auto& best = kept[record.name()];
        if (best == nullptr) {
            best = &record;
        } else if (counts_more(prefix, last, record, *best)) {
            doubled.push_back(*std::exchange(best, &record));
        } else {
            doubled.push_back(record);
        }
    }
    return doubled;
}

Result<Loss> find_loss(const fs::path& prefix,
                       const std::vector<PrefixRecord>& records,
                       std::vector<UnreadableRecord> unreadable) {
    Loss loss;
    loss.records = std::move(unreadable);
    GPKG_TRY(const auto numbers, generation_numbers(prefix));
    for (auto number = numbers.rbegin(); number != numbers.rend() && !loss.last; ++number) {
        if (auto generation = read_generation(prefix, *number)) loss.last = *std::move(generation);
    }
    if (const auto opened = Prefix::open(prefix)) loss.state = !opened->state();
    loss.doubled = doubled_records(prefix, loss.last, records);
    if (!loss.last) {
        // Where nothing was ever gpkg's, a folder without history is no environment.
        loss.history = !Prefix::is_environment(prefix) && !numbers.empty();
        return loss;
    }
    const auto history =
        parse_history(read_file(prefix / "conda-meta/history").value_or(std::string()));
    loss.history = !tells_of(history, *loss.last, has_block(prefix, numbers, *loss.last));
    for (auto& one : missing_records(prefix, *loss.last, records, history))
        loss.records.push_back(std::move(one));
    return loss;
}

/// What is left of the history, and a block after which is asked for what was.
std::string history_again(const fs::path& prefix, const std::optional<Generation>& last) {
    auto text = read_file(prefix / "conda-meta/history").value_or("");
    if (!last) return text;
    const auto left = parse_history(text);
    text.clear();
    for (const auto& entry : left) text += to_text(entry);
    HistoryEntry entry;
    entry.time = last->time;
    entry.command = last->command;
    entry.tool_version = GPKG_VERSION;
    entry.update_specs = last->requested;
    std::vector<std::string> packages;
    packages.reserve(last->packages.size());
    for (const auto& package : last->packages) packages.push_back(history_text(package.record));
    set_difference(entry, left, packages);
    std::set<std::string> names;
    for (const auto& spec : last->requested) names.insert(spec_name(spec));
    for (const auto& [name, specs] : requested_by_name(left)) {
        if (!names.contains(name)) entry.remove_specs.push_back(name);
    }
    if (!entry.added.empty() || !entry.removed.empty() || left.empty())
        return text + to_text(entry);
    const std::string block(last_block(text));
    text.resize(text.size() - block.size());
    return text + with_requests(block, entry);
}

/// The package that the file of a record was of, by the last generation or else by the store.
Result<GenerationPackage> find_package(const Loss& loss,
                                       const PackageStore& store,
                                       const UnreadableRecord& lost) {
    if (loss.last) {
        for (const auto& package : loss.last->packages) {
            if (package.record.distribution() == lost.distribution) return package;
        }
    }
    GPKG_TRY(const auto stored, store.list());
    for (const auto& one : stored) {
        if (one.record.distribution() == lost.distribution)
            return GenerationPackage{one.record, {}};
    }
    return fail(
        ErrorKind::NotFound,
        fmt::format("{}; the package is in no generation of the environment and not in the store",
                    lost.error.message),
        "remove the file and install the package again");
}

PrefixPath prefix_path(const PathEntry& entry) {
    PrefixPath path;
    path.path = entry.path;
    path.type = entry.type == PathType::SoftLink    ? PrefixPathType::SoftLink
                : entry.type == PathType::Directory ? PrefixPathType::Directory
                                                    : PrefixPathType::HardLink;
    path.sha256 = entry.sha256;
    path.size = entry.size_in_bytes;
    path.prefix_placeholder = entry.prefix_placeholder;
    path.binary = entry.mode == FileMode::Binary;
    path.no_link = entry.no_link;
    return path;
}

Result<PrefixRecord> record_again(const GenerationPackage& package, const fs::path& folder) {
    PrefixRecord record;
    record.package = package.record;
    record.requested_specs = package.requested_specs;
    record.extracted_package_dir = folder.native();
    record.link_source = folder.native();
    GPKG_TRY(const auto entries, read_paths(folder));
    for (const auto& entry : entries) {
        record.files.push_back(entry.path);
        record.paths.push_back(prefix_path(entry));
    }
    return record;
}

Result<std::vector<std::string>> restore_records(Context& context,
                                                 const fs::path& prefix,
                                                 const ChangeOptions& options,
                                                 const Loss& loss) {
    std::vector<std::string> names;
    if (loss.records.empty()) return names;
    const auto store = open_store(context);
    std::vector<GenerationPackage> packages;
    std::vector<PackageRecord> records;
    for (const auto& lost : loss.records) {
        GPKG_TRY(auto package, find_package(loss, store, lost));
        records.push_back(package.record);
        packages.push_back(std::move(package));
    }
    GPKG_TRY(const auto channels, wanted_channels(context, {}));
    FetchOptions how;
    how.offline = options.offline;
    GPKG_TRY(const auto folders, make_available(context, store, records, channels, how));
    for (std::size_t i = 0; i < packages.size(); ++i) {
        GPKG_TRY(const auto record, record_again(packages[i], folders[i]));
        GPKG_CHECK(
            write_file_atomically(prefix / "conda-meta" / record.file_name(), record.to_json()));
        names.push_back(record.name());
    }
    return names;
}

}  // namespace

Result<std::vector<InstalledDamage>> lost_metadata(const fs::path& prefix,
                                                   const std::vector<PrefixRecord>& records,
                                                   std::vector<UnreadableRecord> unreadable) {
    GPKG_TRY(const auto loss, find_loss(prefix, records, std::move(unreadable)));
    std::vector<InstalledDamage> lost;
    if (loss.history)
        lost.push_back({"environment", "conda-meta/history", "lacks the last change"});
    if (loss.state)
        lost.push_back({"environment", fmt::format("conda-meta/{}", kStateFile), "cannot be read"});
    for (const auto& one : loss.records)
        lost.push_back({one.distribution,
                        fmt::format("conda-meta/{}.json", one.distribution),
                        one.error.kind == ErrorKind::NotFound ? "is missing" : "cannot be read"});
    for (const auto& record : loss.doubled)
        lost.push_back({record.name(),
                        fmt::format("conda-meta/{}", record.file_name()),
                        "is a second record of this package"});
    return lost;
}

Result<RestoredMetadata> restore_metadata(Context& context,
                                          const fs::path& prefix,
                                          const ChangeOptions& options) {
    RestoredMetadata restored;
    std::error_code code;
    if (!fs::is_directory(prefix / "conda-meta", code)) return restored;  // as good as never made
    std::vector<UnreadableRecord> unreadable;
    GPKG_TRY(const auto records, read_records(prefix, unreadable));
    GPKG_TRY(const auto loss, find_loss(prefix, records, std::move(unreadable)));
    restored.anything = !loss.is_nothing();
    if (!restored.anything) return restored;
    const auto meta = prefix / "conda-meta";
    const auto tell = [&](const std::string& file) {
        context.out.note(fmt::format(
            "{}: {}restored", (meta / file).native(), options.dry_run ? "would be " : ""));
    };
    if (loss.history) tell("history");
    if (loss.state) tell(std::string(kStateFile));
    for (const auto& lost : loss.records) tell(lost.distribution + ".json");
    for (const auto& record : loss.doubled)
        context.out.note(fmt::format("{}: {}set aside: a second record of {}",
                                     (meta / record.file_name()).native(),
                                     options.dry_run ? "would be " : "",
                                     record.name()));
    if (options.dry_run) {
        for (const auto& lost : loss.records) {
            if (auto file = FileName::parse(lost.distribution + ".conda"))
                restored.packages.push_back(std::move(file->name));
        }
        for (const auto& record : loss.doubled) restored.packages.push_back(record.name());
        return restored;
    }
    if (!options.override_frozen) GPKG_CHECK(check_not_frozen(prefix));
    const auto how = transaction_options(context, options);
    GPKG_TRY(const auto lock,
             PrefixLock::acquire(prefix, {how.lock_wait, how.cancelled, how.waiting}));
    if (loss.history)
        GPKG_CHECK(write_file_atomically(meta / "history", history_again(prefix, loss.last)));
    if (loss.state) {
        const auto state = loss.last ? loss.last->state : GpkgState{};
        GPKG_CHECK(write_file_atomically(meta / kStateFile, state.to_json()));
    }
    GPKG_TRY(restored.packages, restore_records(context, prefix, options, loss));
    // Its files may be the other's as well; what is the other's alone is linked anew.
    for (const auto& record : loss.doubled) {
        const auto file = meta / record.file_name();
        GPKG_CHECK(rename_path(file, file.native() + ".damaged"));
        restored.packages.push_back(record.name());
    }
    return restored;
}

}  // namespace gpkg::cli
