#include "libcore/manifest/environment_yml.hpp"

#include "libcore/base/text.hpp"
#include "libcore/manifest/expand_internal.hpp"
#include "libcore/manifest/selectors_internal.hpp"
#include "libcore/spec/names.hpp"
#include "libcore/yaml/line_selectors.hpp"
#include "libcore/yaml/node.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpkg {
namespace {

using manifest::expand_variables;
using yaml::Node;

constexpr std::string_view kKeys[] = {"name",
                                      "prefix",
                                      "channels",
                                      "dependencies",
                                      "variables",
                                      "platforms",
                                      "category",
                                      "accelerator"};

// Folders that belong to the system: an environment in one of them is a mistake or an attack.
constexpr std::string_view kSystemFolders[] = {
    "/",        "/bin",      "/boot",      "/dev",       "/etc", "/home",  "/lib",
    "/lib64",   "/opt",      "/proc",      "/root",      "/run", "/sbin",  "/srv",
    "/sys",     "/tmp",      "/usr",       "/var",       "/mnt", "/media", "/usr/bin",
    "/usr/lib", "/usr/sbin", "/usr/share", "/usr/local",
};

/// "C:\\Users\\me\\env"
bool is_windows_path(std::string_view text) {
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    return text.size() > 2 && is_letter(text[0]) && text[1] == ':' &&
           (text[2] == '\\' || text[2] == '/');
}

class ManifestReader {
public:
    ManifestReader(const std::string& where, const ManifestOptions& options)
        : where_(where), options_(options) {}

    Result<Manifest> read(std::string_view text) {
        const auto holds = [&](std::string_view expression) -> Result<std::optional<bool>> {
            if (!manifest::is_meant_as_selector(expression)) return std::nullopt;
            GPKG_TRY(const bool value, manifest::evaluate_selector(expression, options_.platform));
            return value;
        };
        GPKG_TRY(const auto selected, yaml::select_lines(text, where_, holds));
        has_line_selectors_ = selected.has_selectors;
        for (const auto& place : selected.places)
            warn(place, "treated as a comment: not a platform selector");
        for (const auto& place : selected.behind)
            warn(place, "ignored selector: a selector must be at the start of a comment");
        GPKG_TRY(const auto document, Node::parse(selected.text, where_));
        if (!document.is_map() && !document.is_null())
            return document.fail(fmt::format("expected a map with the key 'dependencies', found {}",
                                             document.kind_name()));
        for (const auto& [key, value] : document.entries()) GPKG_CHECK(check_key(key, value));
        if (document.find("dependencies") == nullptr) {
            if (!selected.has_dropped) return no_dependencies(document);
            return fail(
                ErrorKind::Parse,
                fmt::format("{}: no 'dependencies' for {}: all are selected for other platforms",
                            where_,
                            options_.platform));
        }
        // What it says counts for the dependencies, wherever it stands.
        if (const auto* accelerator = document.find("accelerator"))
            GPKG_CHECK(read_key("accelerator", *accelerator));
        for (const auto& [key, value] : document.entries()) {
            if (key != "accelerator") GPKG_CHECK(read_key(key, value));
        }
        add_pip();
        if (selected.has_dropped && result_.dependencies.empty() && result_.pip.empty())
            warn(where_,
                 fmt::format("no packages for {}: all are selected for other platforms",
                             options_.platform));
        check_platform(document);
        return std::move(result_);
    }

private:
    void warn(const std::string& place, std::string_view what) {
        result_.warnings.push_back(fmt::format("{}: {}", place, what));
    }

    tl::unexpected<Error> no_dependencies(const Node& document) const {
        const std::vector<std::string> wanted{"dependencies"};
        for (const auto& [key, value] : document.entries()) {
            if (!near_names(key, wanted).empty())
                return fail(ErrorKind::Parse,
                            fmt::format("{}: unknown key '{}'", value.key_place(), key),
                            "did you mean 'dependencies'?");
        }
        return fail(ErrorKind::Parse,
                    where_ + ": the key 'dependencies' is missing",
                    "list the packages under 'dependencies:', one per line with '- '");
    }

    Result<void> check_key(const std::string& key, const Node& value) {
        if (std::find(std::begin(kKeys), std::end(kKeys), key) != std::end(kKeys)) return {};
        const std::vector<std::string> names(std::begin(kKeys), std::end(kKeys));
        const auto near = near_names(key, names);
        // The one that decides which builds come. Others may be of another tool.
        if (!near.empty() && near.front() == "accelerator")
            return fail(ErrorKind::Parse,
                        fmt::format("{}: unknown key '{}'", value.key_place(), key),
                        "did you mean 'accelerator'?");
        warn(value.key_place(),
             fmt::format("unknown key '{}' ignored{}",
                         key,
                         near.empty() ? "" : fmt::format("; did you mean {}?", join_or(near))));
        return {};
    }

    Result<void> read_key(const std::string& key, const Node& value) {
        // A key without a value, also one whose lines selectors took away, says nothing.
        if (value.is_null()) return {};
        if (key == "name") return read_name(value);
        if (key == "prefix") return read_prefix(value);
        if (key == "channels") return read_channels(value);
        if (key == "dependencies") return read_dependencies(value);
        if (key == "variables") return read_variables(value);
        if (key == "platforms") return read_platforms(value);
        if (key == "accelerator") return read_accelerator(value);
        if (key == "category") {
            GPKG_TRY(result_.category, value.as_text("a category"));
        }
        return {};
    }

    Result<void> check_name(const Node& node, std::string_view what, const std::string& name) {
        if (const auto bad = name.find_first_of("/ :#"); bad != std::string::npos)
            return node.fail(
                fmt::format("the {} '{}' must not contain '{}'", what, name, name[bad]));
        if (name.empty() || name == "." || name == ".." || name.starts_with('-'))
            return node.fail(fmt::format("'{}' is not a valid {}", name, what));
        return {};
    }

    Result<void> read_name(const Node& node) {
        if (options_.ignore_name) {
            if (const auto written = node.as_text("a name")) result_.ignored_name = trim(*written);
            return {};
        }
        GPKG_TRY(const auto written, node.as_text("a name"));
        auto name = expand_variables(trim(written), options_.env);
        if (name.find("${") != std::string::npos)
            return node.fail(fmt::format("the name {} contains a variable that is not set", name),
                             "set the variable, or use -n NAME");
        GPKG_CHECK(check_name(node, "name", name));
        if (name == "base" || name == "root")
            return node.fail(fmt::format("'{}' is the name of the root prefix", name),
                             "choose another name, in the file or with -n");
        result_.name = std::move(name);
        return {};
    }

    Result<void> read_prefix(const Node& node) {
        if (options_.ignore_name) return {};
        GPKG_TRY(const auto written, node.as_text("a path"));
        const auto text = expand_variables(trim(written), options_.env);
        if (text.empty()) return node.fail("the prefix is empty");
        if (is_windows_path(text)) {
            warn(node.place(), fmt::format("ignored prefix of a Windows system: {}", text));
            return {};
        }
        auto path = absolute_path(text, options_.home);
        const auto shown = path.string();
        if (std::find(std::begin(kSystemFolders), std::end(kSystemFolders), shown) !=
                std::end(kSystemFolders) ||
            (!options_.home.empty() && path == options_.home))
            return node.fail(
                fmt::format("the prefix {} is a system folder or your home folder", shown),
                "choose another folder, in the file or with -p");
        GPKG_CHECK(check_name(node, "last part of the prefix", path.filename().string()));
        result_.prefix = std::move(path);
        return {};
    }

    Result<void> read_channels(const Node& node) {
        GPKG_TRY(const auto texts, node.as_texts("channels"));
        for (const auto& text : texts) {
            auto channel = expand_variables(trim(text), options_.env);
            if (channel.empty()) return node.fail("a channel is empty");
            if (channel == "nodefaults") {
                result_.nodefaults = true;
                continue;
            }
            auto& channels = result_.channels;
            if (std::find(channels.begin(), channels.end(), channel) == channels.end())
                channels.push_back(std::move(channel));
        }
        return {};
    }

    Result<void> read_dependencies(const Node& node) {
        if (!node.is_list())
            return node.fail(
                fmt::format("expected a list of packages, found {}", node.kind_name()));
        const Node* before = nullptr;
        for (const auto& item : node.items()) {
            if (item.is_map()) {
                for (const auto& [key, value] : item.entries())
                    GPKG_CHECK(read_subsection(key, value));
            } else if (item.is_null()) {
                return empty_entry(node, before);
            } else {
                GPKG_CHECK(read_dependency(item));
            }
            before = &item;
        }
        return {};
    }

    /// The parser knows no place of what is not there.
    static tl::unexpected<Error> empty_entry(const Node& list, const Node* before) {
        if (before == nullptr) return list.fail("the first entry of the list is empty");
        return before->fail(fmt::format("the entry after {} is empty",
                                        before->is_scalar() ? before->text() : "this one"));
    }

    Result<void> read_dependency(const Node& node) {
        GPKG_TRY(const auto text, node.as_text("a package"));
        if (text.find("://") == std::string::npos && !package_extension(text).empty())
            return node.fail(
                fmt::format("{}: a package file is not allowed in an environment.yml", text),
                fmt::format("to install it: gpkg install -n NAME {}", shell_word(text)));
        // What was said of accelerators so far is added to.
        Asked asked{{}, std::move(result_.accelerators)};
        if (auto taken = asked.take(text, options_.platform); !taken)
            return fail_at(node.place(), std::move(taken).error());
        if (has_default_accelerator_ && text.starts_with("hardware-") && asked.specs.empty())
            return node.fail(fmt::format("{} cannot be combined with the key 'accelerator'", text),
                             "use one of the two");
        result_.accelerators = std::move(asked.accelerators);
        auto& known = result_.dependencies;
        for (auto& spec : asked.specs) {
            if (std::find(known.begin(), known.end(), spec) != known.end()) {
                warn(node.place(), fmt::format("'{}' is listed twice", text));
            } else {
                known.push_back(std::move(spec));
            }
        }
        return {};
    }

    /// "nvidia", "[nvidia, none]" as --accel has them, or a map of packages, of which `default`
    /// stands for all others.
    Result<void> read_accelerator(const Node& node) {
        const auto read = [&](const Node& value) -> Result<std::vector<AcceleratorChoice>> {
            GPKG_TRY(const auto texts, value.as_texts("an accelerator"));
            std::vector<AcceleratorChoice> choices;
            for (const auto& text : texts) {
                auto choice = parse_accelerator_choice(trim(text));
                if (!choice) return fail_at(value.place(), std::move(choice).error());
                choices.push_back(*choice);
            }
            if (choices.empty()) return value.fail("no accelerator given; for example: nvidia");
            return choices;
        };
        if (!node.is_map()) {
            GPKG_TRY(result_.accelerators.all, read(node));
            has_default_accelerator_ = true;
            return {};
        }
        has_default_accelerator_ = node.find("default") != nullptr;
        for (const auto& [name, value] : node.entries()) {
            GPKG_TRY(auto choices, read(value));
            if (name == "default") {
                result_.accelerators.all = std::move(choices);
                continue;
            }
            const auto spec = MatchSpec::parse(name);
            MatchSpec bare;
            if (spec) bare.name = spec->name;
            if (!spec || !spec->has_one_name() || !(*spec == bare))
                return fail(ErrorKind::Parse,
                            fmt::format("{}: '{}' is not a package name", value.key_place(), name));
            if (choices.size() != 1)
                return value.fail(fmt::format("expected one accelerator for {}", name));
            result_.accelerators.of_package[spec->name] = choices.front();
        }
        return {};
    }

    Result<void> read_subsection(const std::string& key, const Node& value) {
        if (const auto expression = manifest::selector_of_key(key)) {
            const auto holds = manifest::evaluate_key_selector(*expression, options_.platform);
            if (!holds) return fail_at(value.key_place(), holds.error());
            if (has_line_selectors_ && !has_key_selectors_)
                warn(value.key_place(),
                     "the file mixes two styles of selectors; other tools may support only one");
            has_key_selectors_ = true;
            return *holds ? read_dependency(value) : Result<void>{};
        }
        if (key == "pip") {
            has_pip_section_ = true;
            pip_place_ = value.key_place();
            GPKG_TRY(const auto requirements, value.as_texts("requirements for pip"));
            result_.pip.insert(result_.pip.end(), requirements.begin(), requirements.end());
            return {};
        }
        if (value.is_scalar() || value.is_null()) {
            const auto text = value.is_scalar() ? value.text() : std::string();
            return fail(ErrorKind::Parse,
                        fmt::format("{}: '{}:{}' is not a package spec",
                                    value.key_place(),
                                    key,
                                    text.empty() ? "" : " " + text),
                        fmt::format("did you mean {}{}?", key, text.empty() ? "" : "=" + text));
        }
        return fail(ErrorKind::Parse,
                    fmt::format("{}: unknown installer '{}:'", value.key_place(), key),
                    "only 'pip:' is supported besides conda packages");
    }

    static tl::unexpected<Error> fail_at(const std::string& place, Error error) {
        error.message = place + ": " + error.message;
        return pass(std::move(error));
    }

    Result<void> read_variables(const Node& node) {
        if (!node.is_map())
            return node.fail(fmt::format("expected variables as 'NAME: value', found {}",
                                         node.is_list() ? "a list" : "a single value"));
        for (const auto& [name, value] : node.entries()) {
            const auto is_name_char = [](char c) {
                return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_';
            };
            if (name == "<<")
                return fail(ErrorKind::Parse,
                            value.key_place() + ": merging maps with '<<' is not supported",
                            "write the variables out");
            if (name.empty() || (name.front() >= '0' && name.front() <= '9') ||
                !std::all_of(name.begin(), name.end(), is_name_char))
                return fail(
                    ErrorKind::Parse,
                    fmt::format("{}: '{}' is not a valid variable name", value.key_place(), name),
                    "use letters, digits and '_'; start with a letter or '_'");
            if (!value.is_scalar() && !value.is_null())
                return value.fail(
                    fmt::format("expected the value of {}, found {}", name, value.kind_name()));
            if (value.text().find('\0') != std::string::npos)
                return value.fail(fmt::format("the value of {} contains a zero byte", name));
            result_.variables[name] = value.text();
        }
        return {};
    }

    Result<void> read_platforms(const Node& node) {
        GPKG_TRY(auto platforms, node.as_texts("platforms"));
        for (auto& platform : platforms) {
            if (platform == "noarch")
                return node.fail("noarch is not a platform",
                                 "noarch packages are used on every platform");
            if (!is_known_subdir(platform)) {
                const std::vector<std::string> names(known_subdirs().begin(),
                                                     known_subdirs().end());
                const auto near = near_names(platform, names);
                return node.fail(
                    fmt::format("unknown platform '{}'", platform),
                    near.empty() ? "" : fmt::format("did you mean {}?", join_or(near)));
            }
            auto& known = result_.platforms;
            if (std::find(known.begin(), known.end(), platform) == known.end())
                known.push_back(std::move(platform));
        }
        return {};
    }

    void add_pip() {
        if (!has_pip_section_ || result_.pip.empty()) return;
        const auto is_pip = [](const MatchSpec& spec) { return spec.name == "pip"; };
        auto& specs = result_.dependencies;
        if (std::any_of(specs.begin(), specs.end(), is_pip)) return;
        MatchSpec pip;
        pip.name = "pip";
        specs.push_back(std::move(pip));
        warn(pip_place_, "the 'pip:' section needs pip; pip was added to the dependencies");
    }

    void check_platform(const Node& document) {
        const auto& known = result_.platforms;
        if (known.empty() || options_.platform.empty()) return;
        if (std::find(known.begin(), known.end(), options_.platform) != known.end()) return;
        warn(document.find("platforms")->key_place(),
             fmt::format("made for {}, not for {}", join_or(known), options_.platform));
    }

    const std::string& where_;
    const ManifestOptions& options_;
    Manifest result_;
    bool has_line_selectors_ = false;
    bool has_default_accelerator_ = false;
    bool has_key_selectors_ = false;
    bool has_pip_section_ = false;
    std::string pip_place_;
};

}  // namespace

std::vector<std::string> Manifest::channels_before(
    const std::vector<std::string>& configured) const {
    auto all = channels;
    if (nodefaults) return all;
    for (const auto& channel : configured) {
        if (std::find(all.begin(), all.end(), channel) == all.end()) all.push_back(channel);
    }
    return all;
}

bool is_environment_yml(const fs::path& path) {
    const auto extension = path.extension();
    return extension == ".yml" || extension == ".yaml" || extension == ".json";
}

Result<Manifest> parse_environment_yml(std::string_view text,
                                       const std::string& where,
                                       const ManifestOptions& options) {
    return ManifestReader(where, options).read(text);
}

}  // namespace gpkg
