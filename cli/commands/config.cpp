#include "libcore/config/config.hpp"

#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/table.hpp"
#include "libcore/base/text.hpp"
#include "libcore/channel/channel.hpp"
#include "libcore/config/edit.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <nlohmann/json.hpp>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;
using Words = std::vector<std::string>;
using KeyAndValue = std::pair<std::string, std::string>;

/// Both ways of saying it: `gpkg config append channels x` and conda's `--append channels x`.
struct Options {
    CLI::App* list = nullptr;
    CLI::App* get = nullptr;
    CLI::App* set = nullptr;
    CLI::App* append = nullptr;
    CLI::App* prepend = nullptr;
    CLI::App* remove = nullptr;
    CLI::App* remove_key = nullptr;
    std::string key, value;
    Words values;
    bool with_sources = false;

    bool flag_show = false;
    std::string flag_get, flag_remove_key;
    KeyAndValue flag_set, flag_append, flag_prepend, flag_remove;
};

Json to_json(const ShownSetting& setting) {
    if (setting.is_list) return setting.values;
    return setting.values.empty() ? Json() : Json(setting.values.front());
}

int list_settings(Context& context, bool with_sources) {
    const auto settings = shown_settings(context.config);
    if (context.out.json_mode()) {
        Json document;
        for (const auto& setting : settings)
            document[setting.key] =
                with_sources ? Json{{"value", to_json(setting)}, {"source", setting.source}}
                             : to_json(setting);
        context.out.json(document);
        return 0;
    }
    Table table;
    for (const auto& setting : settings)
        table.add({setting.key + ":",
                   fmt::format("{}", fmt::join(setting.values, ", ")),
                   with_sources ? "# " + setting.source : ""});
    for (const auto& line : table.lines()) context.out.result(line);
    return 0;
}

Result<int> get_setting(Context& context, const std::string& key) {
    const auto settings = shown_settings(context.config);
    const auto found = std::find_if(
        settings.begin(), settings.end(), [&](const auto& setting) { return setting.key == key; });
    if (found == settings.end()) {
        GPKG_CHECK(find_config_key(key));  // knows the near names
        return fail(ErrorKind::Usage, fmt::format("{}: is no setting", key));
    }
    if (context.out.json_mode()) {
        context.out.json({{key, to_json(*found)}});
    } else {
        for (const auto& value : found->values) context.out.result(value);
    }
    return 0;
}

/// Paths are kept absolute: the file must mean the same from every folder.
std::string settled(const Context& context, const std::string& key, const std::string& value) {
    const bool is_path = value.starts_with('.') || value.starts_with('~');
    const bool takes_paths = key == "channels" || key.ends_with("_dir") || key.ends_with("_dirs");
    return is_path && takes_paths ? absolute_path(value, context.home).native() : value;
}

int done(Context& context, bool changed, const std::string& what) {
    if (context.out.json_mode())
        context.out.json(
            {{"success", true}, {"changed", changed}, {"file", context.config.file.native()}});
    else
        context.out.print(fmt::format("{}: {}", context.config.file.native(), what));
    return 0;
}

Result<int> set_setting(Context& context, const std::string& key, Words values) {
    for (auto& value : values) value = settled(context, key, value);
    GPKG_CHECK(set_config(context.config, key, values));
    return done(context, true, fmt::format("{} is {}", key, fmt::join(values, ", ")));
}

Result<int> add_values(Context& context, const std::string& key, Words values, ListEnd end) {
    bool changed = false;
    // Of several values in front the first named stands first.
    if (end == ListEnd::Front) std::reverse(values.begin(), values.end());
    for (const auto& value : values) {
        GPKG_TRY(const bool added,
                 add_to_config(context.config, key, settled(context, key, value), end));
        changed = changed || added;
    }
    return done(context,
                changed,
                changed ? fmt::format("{} added to {}", fmt::join(values, ", "), key)
                        : fmt::format("{} has {} already", key, fmt::join(values, ", ")));
}

Result<int> remove_value(Context& context, const std::string& key, const std::string& value) {
    auto removed = remove_from_config(context.config, key, value);
    if (!removed && removed.error().kind == ErrorKind::NotFound)
        removed = remove_from_config(context.config, key, settled(context, key, value));
    GPKG_CHECK(removed);
    return done(context, true, fmt::format("{} removed from {}", value, key));
}

Result<int> remove_setting(Context& context, const std::string& key) {
    GPKG_CHECK(unset_config(context.config, key));
    return done(context, true, fmt::format("{} removed, its default counts again", key));
}

Result<int> edit(Context& context, const Options& options) {
    if (*options.list) return list_settings(context, options.with_sources);
    if (*options.get) return get_setting(context, options.key);
    if (*options.set) return set_setting(context, options.key, options.values);
    if (*options.append) return add_values(context, options.key, options.values, ListEnd::Back);
    if (*options.prepend) return add_values(context, options.key, options.values, ListEnd::Front);
    if (*options.remove) return remove_value(context, options.key, options.value);
    if (*options.remove_key) return remove_setting(context, options.key);

    if (!options.flag_get.empty()) return get_setting(context, options.flag_get);
    if (const auto& [key, value] = options.flag_set; !key.empty())
        return set_setting(context, key, {value});
    if (const auto& [key, value] = options.flag_append; !key.empty())
        return add_values(context, key, {value}, ListEnd::Back);
    if (const auto& [key, value] = options.flag_prepend; !key.empty())
        return add_values(context, key, {value}, ListEnd::Front);
    if (const auto& [key, value] = options.flag_remove; !key.empty())
        return remove_value(context, key, value);
    if (!options.flag_remove_key.empty()) return remove_setting(context, options.flag_remove_key);
    return list_settings(context, options.with_sources);
}

void add_verbs(CLI::App& app, Options& options) {
    const auto verb = [&](const char* name, const char* help) {
        auto* sub = app.add_subcommand(name, help);
        sub->fallthrough();  // --json after the verb
        return sub;
    };
    const auto key = [&](CLI::App* sub) {
        sub->add_option("key", options.key, "the setting")->required()->type_name("KEY");
        return sub;
    };
    options.list = verb("list", "show every setting");
    options.list->add_flag("--sources", options.with_sources, "and where each comes from");
    options.get = key(verb("get", "show one setting"));
    options.set = key(verb("set", "set a value, or all values of a list"));
    options.append = key(verb("append", "add values at the end of a list"));
    options.prepend = key(verb("prepend", "add values at the front of a list"));
    for (auto* sub : {options.set, options.append, options.prepend})
        sub->add_option("values", options.values, "")->required()->type_name("VALUE");
    options.remove = key(verb("remove", "remove a value from a list"));
    options.remove->add_option("value", options.value, "")->required()->type_name("VALUE");
    options.remove_key = key(verb("remove-key", "remove a setting: its default counts again"));
}

void add_flags(CLI::App& app, Options& options) {
    auto* group = app.add_option_group("conda's spelling");
    group->require_option(0, 1);
    const auto pair = [&](const char* names, KeyAndValue& words, const char* help) {
        group->add_option(names, words, help)->type_name("KEY VALUE");
    };
    group->add_flag("--show", options.flag_show, "same as list");
    group->add_option("--get", options.flag_get, "same as get")->type_name("KEY");
    pair("--set", options.flag_set, "same as set");
    pair("--append", options.flag_append, "same as append");
    pair("--add,--prepend", options.flag_prepend, "same as prepend");
    pair("--remove", options.flag_remove, "same as remove");
    group->add_option("--remove-key", options.flag_remove_key, "same as remove-key")
        ->type_name("KEY");
    app.add_flag("--show-sources", options.with_sources, "same as list --sources");
}

}  // namespace

Action bind_config(CLI::App& app) {
    const auto options = std::make_shared<Options>();
    add_verbs(app, *options);
    add_flags(app, *options);
    app.require_subcommand(0, 1);
    app.footer(
        "Reads and changes the settings in the root prefix's config file.\n"
        "  gpkg config prepend channels https://host/mine\n"
        "  gpkg config set channel_priority flexible");

    return [options](Context& context) { return edit(context, *options); };
}

}  // namespace gpkg::cli
