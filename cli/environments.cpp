#include "cli/environments.hpp"

#include "cli/table.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/environments.hpp"

#include <nlohmann/json.hpp>
#include <unistd.h>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Entry {
    fs::path path;
    std::string name;  ///< empty for one that only its path names
    bool is_active = false;
    bool is_base = false;
};

std::vector<Entry> entries(const Context& context) {
    const auto folders = environment_folders(context.config);
    const auto active = context.env("CONDA_PREFIX").value_or("");
    std::vector<Entry> found;
    for (const auto& path : list_environments(folders, context.home)) {
        // Only those in folders of ours answer to -n.
        found.push_back({path,
                         folders.has(path) ? folders.name_of(path) : "",
                         path == active,
                         path == folders.root_prefix});
    }
    return found;
}

}  // namespace

EnvironmentFolders environment_folders(const Config& config) {
    return {config.root_prefix.value, config.envs_dirs.value};
}

std::string target_words(const Context& context, const fs::path& prefix) {
    const auto folders = environment_folders(context.config);
    return folders.has(prefix) ? "-n " + shell_word(folders.name_of(prefix))
                               : "-p " + shell_word(prefix.native());
}

void add_environments(Json& document, const Context& context) {
    auto paths = Json::array();
    auto details = Json::object();
    for (const auto& entry : entries(context)) {
        paths.push_back(entry.path.native());
        details[entry.path.native()] = {{"name", entry.name},
                                        {"active", entry.is_active},
                                        {"base", entry.is_base},
                                        {"writable", ::access(entry.path.c_str(), W_OK) == 0}};
    }
    document["envs"] = std::move(paths);
    document["envs_details"] = std::move(details);
}

void print_environments(const Context& context) {
    if (context.out.json_mode()) {
        Json document;
        add_environments(document, context);
        context.out.json(document);
        return;
    }
    context.out.result("# environments:\n#");
    Table table;
    for (const auto& entry : entries(context))
        table.add({entry.name, entry.is_active ? "*" : " ", entry.path.native()});
    for (const auto& line : table.lines()) context.out.result(line);
}

}  // namespace gpkg::cli
