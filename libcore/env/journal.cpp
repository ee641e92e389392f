#include "libcore/base/json_text.hpp"
#include "libcore/env/journal_internal.hpp"
#include "libcore/env/json_internal.hpp"
#include "libcore/env/second_names_internal.hpp"

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>
#include <optional>
#include <system_error>
#include <unordered_set>

namespace gpkg {
namespace {

using env_json::texts_of;
using Json = nlohmann::ordered_json;

constexpr std::string_view kNewMark = ".gpkg-new";
constexpr std::string_view kRemovedMark = ".gpkg-removed";

/// Keeps the first failure and lets the work go on: what can be mended is.
class Failures {
public:
    void add(Error error) {
        if (!first_) first_ = std::move(error);
    }
    Result<void> result() && {
        if (first_) return pass(std::move(*first_));
        return {};
    }
    bool any() const { return first_.has_value(); }

private:
    std::optional<Error> first_;
};

/// Beside `path`, for what is in the way there.
std::string free_name(const Disk& disk, const std::string& path) {
    auto name = path + ".gpkg-saved";
    for (int number = 2; is_there(disk.prefix() / name); ++number)
        name = fmt::format("{}.gpkg-saved-{}", path, number);
    return name;
}

/// Whether somebody else's file stands at a path where the transaction puts one.
Result<bool> has_theirs(const Disk& disk, const IsTheirs& is_theirs, const std::string& path) {
    struct stat status {};
    const int code = disk.look(path, status);
    if (code != 0 && !is_absent(code)) return pass(disk.error(path, "access", code));
    return code == 0 && is_theirs(path, status);
}

/// Renames one to its former place.
Result<void> return_one(Disk& disk,
                        const IsTheirs& is_theirs,
                        std::size_t place,
                        const std::string& path) {
    GPKG_TRY(const bool has_left, disk.exists(old_path(place)));
    if (!has_left) return {};
    GPKG_TRY(const bool in_the_way, has_theirs(disk, is_theirs, path));
    int code = in_the_way ? disk.rename(path, free_name(disk, path)) : 0;
    if (code == 0) code = disk.rename(old_path(place), path);
    if (code != 0) return pass(disk.error(path, "put back", code));
    return {};
}

/// Renames old/<n> to its former place, parents first.
Result<void> return_old(Disk& disk, const JournalPlan& plan, Failures& failures) {
    GPKG_TRY(const auto is_theirs, IsTheirs::make(disk, plan.sources));
    std::vector<std::size_t> order(plan.leaving.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return plan.leaving[a] < plan.leaving[b];
    });
    for (const auto place : order) {
        if (auto done = return_one(disk, is_theirs, place, plan.leaving[place]); !done)
            failures.add(std::move(done).error());
    }
    return {};
}

/// Files and folders that came, children before parents.
Result<void> remove_arrived(Disk& disk, const JournalPlan& plan, Failures& failures) {
    GPKG_TRY(const auto is_theirs, IsTheirs::make(disk, plan.sources));
    struct Arrived {
        const std::string* path;
        bool folder;
    };
    std::vector<Arrived> all;
    for (const auto& path : plan.arriving) all.push_back({&path, false});
    for (const auto& path : plan.arriving_folders) all.push_back({&path, true});
    std::sort(all.begin(), all.end(), [](const Arrived& a, const Arrived& b) {
        return *a.path > *b.path;
    });
    for (const auto& [path, folder] : all) {
        const auto theirs = folder ? Result<bool>(false) : has_theirs(disk, is_theirs, *path);
        if (!theirs) failures.add(theirs.error());
        if (!theirs || *theirs) continue;
        const int code = folder ? disk.remove_folder(*path) : disk.remove(*path);
        // A folder in which scripts or the user left something stays.
        if (code == 0 || is_absent(code) || (folder && (code == ENOTEMPTY || code == EEXIST)))
            continue;
        failures.add(disk.error(*path, "remove", code));
    }
    return {};
}

/// plan.json goes first: from then on there is no transaction, only litter.
void sweep(Disk& disk, Failures& failures) {
    if (failures.any()) return;
    const auto plan = journal_path("plan.json");
    if (const int code = disk.remove(plan); code != 0 && !is_absent(code))
        return failures.add(disk.error(plan, "remove", code));
    if (const int code = disk.remove_tree(std::string(kJournalFolder)); code != 0)
        failures.add(disk.error(std::string(kJournalFolder), "remove", code));
}

/// The prefix vanishes by one rename; what is left is litter beside it.
Result<void> remove_whole_prefix(Disk& disk) {
    const auto staging = staging_path(disk.prefix());
    std::error_code code;
    if (const int refused = disk.announce("remove prefix", disk.prefix()); refused != 0)
        return pass(io_error(disk.prefix(), "remove", refused));
    if (disk.prefix() != staging) {
        fs::remove_all(staging, code);
        fs::rename(disk.prefix(), staging, code);
        if (code) return pass(io_error(disk.prefix(), "remove", code.value()));
        disk.moved_to(staging);
    }
    if (const int refused = disk.announce("remove tree", staging); refused != 0)
        return pass(io_error(staging, "remove", refused));
    fs::remove_all(staging, code);
    if (code) return pass(io_error(staging, "remove", code.value()));
    return {};
}

/// Whether there is anything in a prefix that was being made but what makes it.
Result<bool> holds_others(const Disk& disk, const JournalPlan& plan) {
    GPKG_TRY(const bool untold, disk.exists(journal_path("untold")));
    if (untold) return false;
    GPKG_TRY(const auto is_theirs, IsTheirs::make(disk, plan.sources));
    std::unordered_set<std::string_view> files(plan.arriving.begin(), plan.arriving.end());
    std::unordered_set<std::string_view> folders(plan.arriving_folders.begin(),
                                                 plan.arriving_folders.end());
    folders.insert("conda-meta");
    std::error_code code;
    fs::recursive_directory_iterator item(disk.prefix(), code);
    for (const fs::recursive_directory_iterator end; !code && item != end; item.increment(code)) {
        const auto path = item->path().native().substr(disk.prefix().native().size() + 1);
        if (path == kJournalFolder) item.disable_recursion_pending();
        if (path == kJournalFolder || path == "conda-meta/.gpkg-lock") continue;
        struct stat status {};
        const int found = disk.look(path, status);
        if (is_absent(found)) continue;  // gone meanwhile
        if (found != 0) return pass(disk.error(path, "access", found));
        const bool ours = S_ISDIR(status.st_mode)
                              ? folders.contains(path)
                              : files.contains(path) && !is_theirs(path, status);
        if (!ours) return true;
    }
    if (code) return pass(io_error(disk.prefix(), "list", code.value()));
    return false;
}

/// Of a prefix that was being made nothing stays but what others put into it.
Result<void> remove_made_prefix(Disk& disk, const JournalPlan& plan) {
    GPKG_TRY(const bool others, holds_others(disk, plan));
    if (!others) return remove_whole_prefix(disk);
    Failures failures;
    GPKG_CHECK(remove_arrived(disk, plan, failures));
    sweep(disk, failures);
    return std::move(failures).result();
}

void finish_history(Disk& disk, const JournalPlan& plan, Failures& failures) {
    const std::string file = "conda-meta/history";
    const auto& block = plan.history_block;
    const auto& replaced = plan.history_replaced;
    auto text = disk.read(file);
    if (!text && text.error().kind != ErrorKind::NotFound) return failures.add(text.error());
    std::string now = text ? *text : "";
    const auto place = std::min<std::size_t>(plan.history_size, now.size());
    const auto tail = std::string_view(now).substr(place);
    if (text && block.empty()) return;
    if (!replaced.empty()) {
        const bool is_done =
            block.size() > replaced.size() ? tail.starts_with(block) : !tail.starts_with(replaced);
        if (is_done) return;
        now.replace(place, replaced.size(), block);
    } else if (text && tail.starts_with(block)) {
        return;
    } else {
        // Cut short by the end of an earlier attempt; otherwise another tool wrote, and stays.
        if (std::string_view(block).starts_with(tail)) now.resize(place);
        now += block;
    }
    if (const int code = disk.write_durably(file, now); code != 0)
        failures.add(disk.error(file, "write", code));
}

void remove_caches(Disk& disk, const JournalPlan& plan, Failures& failures) {
    std::vector<JournalPlan::Cache> caches = plan.caches;
    std::sort(caches.begin(), caches.end(), [](const auto& a, const auto& b) {
        return a.folder < b.folder;
    });
    for (auto first = caches.begin(); first != caches.end();) {
        const auto last = std::find_if(
            first, caches.end(), [&](const auto& cache) { return cache.folder != first->folder; });
        const auto paths = paths_in(disk.prefix() / first->folder);
        if (!paths) failures.add(paths.error());
        for (const auto& path : paths.value_or(std::vector<fs::path>())) {
            const auto name = path.filename().native();
            const bool ours = std::any_of(
                first, last, [&](const auto& cache) { return name.starts_with(cache.stem); });
            if (ours && name.ends_with(".pyc")) disk.remove(first->folder + name);
        }
        first = last;
    }
}

/// The records and the history become those of the new environment.
void switch_records(Disk& disk, const JournalPlan& plan, Failures& failures) {
    for (const auto& name : plan.records) {
        for (auto at = name.find('/'); at != std::string::npos; at = name.find('/', at + 1)) {
            const auto folder = "conda-meta/" + name.substr(0, at);
            const int code = disk.make_folder(folder);
            if (code != 0 && code != EEXIST) failures.add(disk.error(folder, "make", code));
        }
        const auto from = journal_path("records/" + name);
        const int code = disk.rename(from, "conda-meta/" + name);
        if (code != 0 && !is_absent(code)) failures.add(disk.error(from, "put in place", code));
    }
    for (const auto& name : plan.dropped) {
        const auto file = "conda-meta/" + name;
        const int code = disk.remove(file);
        if (code != 0 && !is_absent(code)) failures.add(disk.error(file, "remove", code));
    }
    finish_history(disk, plan, failures);
}

Json saved_json(const std::vector<JournalPlan::Saved>& saved) {
    auto out = Json::array();
    for (const auto& item : saved) out.push_back({{"place", item.leaving}, {"path", item.path}});
    return out;
}

Json caches_json(const std::vector<JournalPlan::Cache>& caches) {
    auto out = Json::array();
    for (const auto& item : caches) out.push_back({{"folder", item.folder}, {"stem", item.stem}});
    return out;
}

}  // namespace

std::string journal_path(std::string_view name) {
    return std::string(kJournalFolder) + "/" + std::string(name);
}

std::string old_path(std::size_t place) { return journal_path("old/" + std::to_string(place)); }

fs::path staging_path(const fs::path& prefix) {
    return prefix.parent_path() / ("." + prefix.filename().native() + std::string(kNewMark));
}

fs::path grave_path(const fs::path& prefix, int number) {
    const auto name = "." + prefix.filename().native() + std::string(kRemovedMark);
    return prefix.parent_path() / (number == 1 ? name : fmt::format("{}-{}", name, number));
}

std::optional<fs::path> prefix_of_rest(const fs::path& path) {
    const auto name = path.filename().native();
    if (!name.starts_with('.')) return std::nullopt;
    for (const auto mark : {kNewMark, kRemovedMark}) {
        const auto at = name.rfind(mark);
        if (at == std::string::npos || at < 2) continue;
        const auto rest = std::string_view(name).substr(at + mark.size());
        const bool is_number = rest.starts_with('-') && rest.size() > 1 &&
                               rest.find_first_not_of("0123456789", 1) == std::string_view::npos;
        if (rest.empty() || is_number) return path.parent_path() / name.substr(1, at - 1);
    }
    return std::nullopt;
}

std::string JournalPlan::to_json() const {
    const Json out = {{"format", 1},
                      {"made_prefix", made_prefix},
                      {"made_meta", made_meta},
                      {"leaving", leaving},
                      {"arriving", arriving},
                      {"arriving_folders", arriving_folders},
                      {"saved", saved_json(saved)},
                      {"records", records},
                      {"dropped", dropped},
                      {"sources", sources},
                      {"emptied", emptied},
                      {"caches", caches_json(caches)},
                      {"command", command},
                      {"history_size", history_size},
                      {"history_replaced", history_replaced},
                      {"history_block", history_block}};
    return json_text(out);
}

Result<JournalPlan> JournalPlan::parse(std::string_view text, std::string_view what) {
    simdjson::dom::parser parser;
    GPKG_TRY(const auto object, env_json::parse_object(parser, text, what));
    const auto texts = [&](const char* key) {
        simdjson::dom::element value;
        return object[key].get(value) == simdjson::SUCCESS ? texts_of(value)
                                                           : std::vector<std::string>();
    };
    const auto pairs = [&](const char* key, auto&& take) {
        simdjson::dom::array list;
        if (object[key].get(list) != simdjson::SUCCESS) return;
        for (const auto item : list) take(item);
    };
    const auto truth = [&](const char* key) {
        bool value = false;
        return object[key].get(value) == simdjson::SUCCESS && value;
    };
    JournalPlan plan;
    std::uint64_t format = 0;
    if (object["format"].get(format) != simdjson::SUCCESS || format != 1)
        return fail(ErrorKind::Unsupported,
                    fmt::format("{}: this version of gpkg cannot read the journal", what),
                    "use the version of gpkg that started the change");
    plan.made_prefix = truth("made_prefix");
    plan.made_meta = truth("made_meta");
    plan.leaving = texts("leaving");
    plan.arriving = texts("arriving");
    plan.arriving_folders = texts("arriving_folders");
    plan.records = texts("records");
    plan.dropped = texts("dropped");
    plan.sources = texts("sources");
    plan.emptied = texts("emptied");
    pairs("saved", [&](simdjson::dom::element item) {
        std::uint64_t place = 0;
        std::string_view path;
        if (item["place"].get(place) == simdjson::SUCCESS &&
            item["path"].get(path) == simdjson::SUCCESS)
            plan.saved.push_back({static_cast<std::size_t>(place), std::string(path)});
    });
    pairs("caches", [&](simdjson::dom::element item) {
        std::string_view folder;
        std::string_view stem;
        if (item["folder"].get(folder) == simdjson::SUCCESS &&
            item["stem"].get(stem) == simdjson::SUCCESS)
            plan.caches.push_back({std::string(folder), std::string(stem)});
    });
    std::string_view command;
    if (object["command"].get(command) == simdjson::SUCCESS) plan.command = command;
    std::string_view block;
    if (object["history_size"].get(plan.history_size) != simdjson::SUCCESS ||
        object["history_block"].get(block) != simdjson::SUCCESS)
        return fail(ErrorKind::Integrity, fmt::format("{}: the journal is incomplete", what));
    plan.history_block = block;
    std::string_view replaced;
    if (object["history_replaced"].get(replaced) == simdjson::SUCCESS)
        plan.history_replaced = replaced;
    return plan;
}

Result<void> write_journal(Disk& disk, const JournalPlan& plan) {
    for (const auto& folder :
         {std::string(kJournalFolder), journal_path("old"), journal_path("records")}) {
        if (const int code = disk.make_folder(folder); code != 0)
            return pass(disk.error(folder, "make", code));
    }
    const auto file = journal_path("plan.json");
    if (const int code = disk.write_durably(file, plan.to_json()); code != 0)
        return pass(disk.error(file, "write", code));
    return SecondNames::prepare(disk);
}

Result<void> mark(Disk& disk, std::string_view name) {
    const auto file = journal_path(name);
    const int code =
        name == "committed" ? disk.write_durably(file, "") : disk.write(file, "", 0644);
    if (code != 0 && code != EEXIST) return pass(disk.error(file, "write", code));
    return {};
}

Result<void> roll_back(Disk& disk, const JournalPlan& plan) {
    if (plan.made_prefix) return remove_made_prefix(disk, plan);
    Failures failures;
    const auto linking = journal_path("linking");
    GPKG_TRY(const bool is_linking, disk.exists(linking));
    if (is_linking) {
        GPKG_CHECK(remove_arrived(disk, plan, failures));
        // Only with all of it gone may old files return: a second attempt would take them for ours.
        if (failures.any()) return std::move(failures).result();
        if (const int code = disk.remove(linking); code != 0)
            return pass(disk.error(linking, "remove", code));
    }
    GPKG_CHECK(return_old(disk, plan, failures));
    sweep(disk, failures);
    return std::move(failures).result();
}

Result<void> finish(Disk& disk, const JournalPlan& plan) {
    Failures failures;
    for (const auto& [place, path] : plan.saved) {
        const int code = disk.rename(old_path(place), path);
        if (code != 0 && !is_absent(code)) failures.add(disk.error(path, "set aside", code));
    }
    switch_records(disk, plan, failures);
    remove_caches(disk, plan, failures);
    for (const auto& folder : plan.emptied) disk.remove_folder(folder);
    sweep(disk, failures);
    return std::move(failures).result();
}

}  // namespace gpkg
