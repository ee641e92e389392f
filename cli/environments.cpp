#include "cli/environments.hpp"

#include "cli/table.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/disk_use.hpp"
#include "libcore/env/environments.hpp"
#include "libcore/env/prefix.hpp"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Entry {
    fs::path path;
    std::string name;    ///< empty for one that only its path names
    fs::path hidden_by;  ///< the environment that has its name in an earlier folder; or empty
    bool is_active = false;
    bool is_base = false;
    bool is_interrupted = false;
    bool is_writable = true;
    bool is_frozen = false;
};

/// The environment that -n finds instead of the one at `path`; empty if there is none.
fs::path hider_of(const fs::path& path, const EnvironmentFolders& folders) {
    const auto& envs = folders.envs;
    if (std::find(envs.begin(), envs.end(), path.parent_path()) == envs.end()) return {};
    auto named = folders.path_of(path.filename().native());
    std::error_code code;
    return named == path || fs::equivalent(named, path, code) ? fs::path() : std::move(named);
}

std::vector<Entry> entries(const Context& context) {
    const auto folders = environment_folders(context.config);
    const auto active = context.env("CONDA_PREFIX").value_or("");
    const auto interrupted = interrupted_environments(folders, context.home);
    const auto paths = all_environments(context);
    std::vector<Entry> found;
    found.reserve(paths.size());
    for (const auto& path : paths) {
        // Only those in folders of ours answer to -n.
        found.push_back(
            {path,
             folders.has(path) ? folders.name_of(path) : "",
             hider_of(path, folders),
             path == active,
             path == folders.root_prefix,
             std::find(interrupted.begin(), interrupted.end(), path) != interrupted.end(),
             ::access(path.c_str(), W_OK) == 0,
             !check_not_frozen(path)});
    }
    return found;
}

/// "(interrupted; gpkg repair -n ml)", "(read-only)", "(frozen)" or "(hidden by /x/envs/ml; use
/// -p)"; empty for others.
std::string mark_of(const Context& context, const Entry& entry) {
    if (entry.is_interrupted)
        return fmt::format("(interrupted; gpkg repair {})", target_words(context, entry.path));
    std::vector<std::string> marks;
    if (!entry.is_writable)
        marks.emplace_back("read-only");
    else if (entry.is_frozen)
        marks.emplace_back("frozen");
    if (!entry.hidden_by.empty())
        marks.push_back(fmt::format("hidden by {}; use -p", entry.hidden_by.native()));
    return marks.empty() ? "" : fmt::format("({})", fmt::join(marks, "; "));
}

}  // namespace

std::vector<fs::path> all_environments(const Context& context) {
    const auto folders = environment_folders(context.config);
    auto paths = list_environments(folders, context.home);
    for (auto& path : interrupted_environments(folders, context.home)) {
        if (!Prefix::is_environment(path)) paths.push_back(std::move(path));
    }
    return paths;
}

EnvironmentFolders environment_folders(const Config& config) {
    return {config.root_prefix.value, config.envs_dirs.value};
}

bool is_environment_name(const Config& config, const std::string& name) {
    return check_environment_name(name) &&
           Prefix::is_environment(environment_folders(config).path_of(name));
}

std::string environment_name(const Context& context, const fs::path& prefix) {
    return environment_folders(context.config).name_of(prefix);
}

std::string target_words(const Context& context, const fs::path& prefix) {
    const auto folders = environment_folders(context.config);
    return folders.has(prefix) ? "-n " + shell_word(folders.name_of(prefix))
                               : environment_argument(prefix);
}

void add_environments(Json& document, const Context& context) {
    auto paths = Json::array();
    auto details = Json::object();
    auto interrupted = Json::array();
    for (const auto& entry : entries(context)) {
        if (entry.is_interrupted) interrupted.push_back(entry.path.native());
        if (!Prefix::is_environment(entry.path)) continue;
        paths.push_back(entry.path.native());
        details[entry.path.native()] = {{"name", entry.name},
                                        {"active", entry.is_active},
                                        {"base", entry.is_base},
                                        {"writable", entry.is_writable}};
    }
    document["envs"] = std::move(paths);
    document["envs_details"] = std::move(details);
    document["envs_interrupted"] = std::move(interrupted);
}

void print_environments(const Context& context, bool with_sizes) {
    std::uint64_t total = 0;
    SeenFiles seen;
    const auto size_of = [&](const fs::path& path) -> std::optional<std::uint64_t> {
        const auto records = read_records(path);
        if (!records) return std::nullopt;
        std::uint64_t bytes = 0;
        for (const auto& use : disk_use(path, *records, &seen)) {
            bytes += use.bytes;
            total += use.added_bytes;
        }
        return bytes;
    };
    if (context.out.json_mode()) {
        Json document;
        add_environments(document, context);
        if (with_sizes) {
            for (auto& [path, details] : document["envs_details"].items()) {
                const auto size = size_of(path);
                details["size"] = size ? Json(*size) : Json();
            }
            document["size"] = total;
        }
        context.out.json(document);
        return;
    }
    context.out.result("# environments; * marks the active one\n#");
    Table table(with_sizes ? std::vector<std::size_t>{2} : std::vector<std::size_t>{});
    std::vector<std::string> head{"# Name", " ", "Path"};
    if (with_sizes) head.insert(head.begin() + 2, "Size");
    table.add(std::move(head));
    for (const auto& entry : entries(context)) {
        std::vector<std::string> cells{entry.name, entry.is_active ? "*" : " "};
        if (with_sizes) {
            const auto size = size_of(entry.path);
            cells.push_back(size ? human_size(*size) : "?");
        }
        cells.push_back(entry.path.native());
        cells.push_back(mark_of(context, entry));
        table.add(std::move(cells));
    }
    context.out.result(table);
    if (with_sizes)
        context.out.result(
            fmt::format("#\n# {} in packages; files that environments share are counted once",
                        human_size(total)));
}

}  // namespace gpkg::cli
