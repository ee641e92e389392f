#include "libcore/env/prefix.hpp"

#include "libcore/base/json_text.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/json_internal.hpp"
#include "libcore/env/recovery_internal.hpp"
#include "libcore/env/transaction.hpp"
#include "libcore/fs/temporary.hpp"
#include "libcore/hardware/accelerator.hpp"

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>
#include <sys/stat.h>
#include <system_error>

namespace gpkg {
namespace {

using env_json::text_of;
using Json = nlohmann::ordered_json;

/// A text file that need not be there.
Result<std::string> read_optional(const fs::path& path) {
    auto text = read_file(path);
    if (!text && text.error().kind == ErrorKind::NotFound) return std::string();
    return text;
}

std::map<std::string, std::vector<std::string>> list_members(simdjson::dom::element value) {
    std::map<std::string, std::vector<std::string>> out;
    simdjson::dom::object object;
    if (value.get(object) != simdjson::SUCCESS) return out;
    for (const auto member : object)
        out[std::string(member.key)] = env_json::texts_of(member.value);
    return out;
}

Result<std::string> accelerator_in(simdjson::dom::element value, std::string_view what) {
    std::string_view text;
    if (value.get(text) == simdjson::SUCCESS && parse_accelerator_choice(text))
        return std::string(text);
    return fail(ErrorKind::Parse,
                fmt::format("{}: {} is not an accelerator", what, simdjson::minify(value)));
}

Result<std::vector<std::string>> accelerators_in(simdjson::dom::element value,
                                                 std::string_view what) {
    simdjson::dom::array list;
    if (value.get(list) != simdjson::SUCCESS)
        return fail(ErrorKind::Parse, fmt::format("{}: accelerator_asked: expected a list", what));
    std::vector<std::string> out;
    for (const auto item : list) {
        GPKG_TRY(out.emplace_back(), accelerator_in(item, what));
    }
    return out;
}

Result<std::map<std::string, std::string>> package_accelerators_in(simdjson::dom::element value,
                                                                   std::string_view what) {
    simdjson::dom::object object;
    if (value.get(object) != simdjson::SUCCESS)
        return fail(ErrorKind::Parse,
                    fmt::format("{}: package_accelerators: expected an object", what));
    std::map<std::string, std::string> out;
    for (const auto [name, accelerator] : object) {
        GPKG_TRY(out[std::string(name)], accelerator_in(accelerator, what));
    }
    return out;
}

/// Every member of the top object but one.
std::string members_without(simdjson::dom::object object, std::string_view left_out) {
    env_json::Members members;
    for (const auto [key, value] : object) {
        if (key != left_out) members.add(key, value);
    }
    return std::move(members).text();
}

constexpr std::string_view kRepairHint = "to restore it: gpkg repair {}";

std::string dump(const Json& json) { return json_text(json, 2) + "\n"; }

}  // namespace

Result<GpkgState> GpkgState::parse(std::string_view text, std::string_view what) {
    simdjson::dom::parser parser;
    GPKG_TRY(const auto object, env_json::parse_object(parser, text, what));
    GpkgState state;
    env_json::Members unknown;
    for (const auto [key, value] : object) {
        if (key == "accelerator") {
            GPKG_TRY(state.accelerator, accelerator_in(value, what));
        } else if (key == "accelerator_asked") {
            GPKG_TRY(state.accelerator_asked, accelerators_in(value, what));
        } else if (key == "package_accelerators") {
            GPKG_TRY(state.package_accelerators, package_accelerators_in(value, what));
        } else if (key == "link_scripts") {
            state.link_scripts = list_members(value);
        } else if (key == "channels") {
            state.channels = env_json::texts_of(value);
        } else {
            unknown.add(key, value);
        }
    }
    state.unknown_keys = std::move(unknown).text();
    return state;
}

std::string GpkgState::to_json() const {
    Json out = Json::object();
    if (!accelerator.empty()) out["accelerator"] = accelerator;
    if (!accelerator_asked.empty()) out["accelerator_asked"] = accelerator_asked;
    if (!package_accelerators.empty()) out["package_accelerators"] = package_accelerators;
    if (!link_scripts.empty()) out["link_scripts"] = link_scripts;
    if (!channels.empty()) out["channels"] = channels;
    env_json::add_unknown(out, unknown_keys);
    return dump(out);
}

bool Prefix::is_environment(const fs::path& path) {
    std::error_code ignored;
    return fs::is_regular_file(path / "conda-meta" / "history", ignored);
}

Result<Prefix> Prefix::open(const fs::path& path) {
    const auto history = path / "conda-meta" / "history";
    struct stat status {};
    const int code = ::stat(history.c_str(), &status) == 0 ? 0 : errno;
    if (code == 0 && S_ISREG(status.st_mode)) return Prefix(path);
    // No permission: another user's environment is told like one that is not there.
    if (code != 0 && !is_absent(code) && code != EACCES)
        return pass(io_error(history, "access", code));
    std::error_code ignored;
    const auto condition = prefix_condition(path);
    if (condition == PrefixCondition::Busy)
        return fail(
            ErrorKind::NoEnvironment,
            fmt::format("{}: another gpkg process is changing this environment", path.native()));
    if (condition == PrefixCondition::Interrupted && is_half_removed(path))
        return pass(
            with_environment_hint({ErrorKind::NoEnvironment,
                                   fmt::format("removing {} was interrupted", path.native()),
                                   {},
                                   {}},
                                  "to complete it: gpkg repair {}",
                                  path));
    if (condition == PrefixCondition::Interrupted)
        return pass(
            with_environment_hint({ErrorKind::NoEnvironment,
                                   fmt::format("creating {} was interrupted", path.native()),
                                   {},
                                   {}},
                                  "run gpkg create again, or undo it: gpkg repair {}",
                                  path));
    const bool was_one = fs::exists(path / "conda-meta" / "gpkg", ignored);
    auto error = no_environment(
        path,
        fmt::format("no environment at {} (conda-meta/history is missing)", path.native()),
        "to list environments: gpkg env list");
    if (was_one) error = with_environment_hint(std::move(error), kRepairHint, path);
    return pass(std::move(error));
}

Result<std::vector<PrefixRecord>> Prefix::records() const { return read_records(path_); }

Result<std::vector<PrefixRecord>> read_records(const fs::path& prefix) {
    std::vector<UnreadableRecord> unreadable;
    GPKG_TRY(auto records, read_records(prefix, unreadable));
    if (unreadable.empty()) return records;
    auto error = std::move(unreadable.front().error);
    if (error.hint.empty()) error = with_environment_hint(std::move(error), kRepairHint, prefix);
    return pass(std::move(error));
}

Result<std::vector<fs::path>> record_files(const fs::path& prefix) {
    const auto folder = prefix / "conda-meta";
    GPKG_CHECK(open_folder(folder));
    GPKG_TRY(auto files, paths_in(folder));
    std::erase_if(files, [](const fs::path& path) {
        const auto name = path.filename().native();
        // <name>-<version>-<build>.json; other tools' files have no two dashes.
        return name.starts_with('.') || !name.ends_with(".json") ||
               std::count(name.begin(), name.end(), '-') < 2;
    });
    return files;
}

Result<std::vector<PrefixRecord>> read_records(const fs::path& prefix,
                                               std::vector<UnreadableRecord>& unreadable) {
    GPKG_TRY(const auto files, record_files(prefix));
    std::vector<PrefixRecord> out;
    out.reserve(files.size());
    for (const auto& file : files) {
        auto record = PrefixRecord::read(file);
        if (record)
            out.push_back(*std::move(record));
        else
            unreadable.push_back({file.stem().native(), std::move(record).error()});
    }
    std::sort(out.begin(), out.end(), [](const PrefixRecord& a, const PrefixRecord& b) {
        return std::pair(a.package.name, a.package.distribution()) <
               std::pair(b.package.name, b.package.distribution());
    });
    return out;
}

Result<std::vector<HistoryEntry>> Prefix::history() const {
    GPKG_TRY(const auto text, read_file(meta() / "history"));
    return parse_history(text);
}

Result<std::vector<std::string>> Prefix::pinned_specs() const {
    GPKG_TRY(const auto text, read_optional(meta() / "pinned"));
    std::vector<std::string> out;
    for (const auto raw : split(text, '\n')) {
        const auto line = trim(raw.substr(0, raw.find('#')));
        if (!line.empty()) out.emplace_back(line);
    }
    return out;
}

Result<std::map<std::string, std::string>> Prefix::env_vars() const {
    const auto file = meta() / "state";
    GPKG_TRY(const auto text, read_optional(file));
    if (trim(text).empty()) return std::map<std::string, std::string>();
    simdjson::dom::parser parser;
    auto parsed = env_json::parse_object(parser, text, file.native());
    if (!parsed) {
        parsed.error().hint = fmt::format(
            "it contains the variables of the environment: correct it, or delete it and set them "
            "again: rm {}",
            shell_word(file.native()));
        return pass(std::move(parsed).error());
    }
    const auto object = *parsed;
    std::map<std::string, std::string> texts;
    simdjson::dom::object variables;
    if (object["env_vars"].get(variables) != simdjson::SUCCESS) return texts;
    for (const auto [name, value] : variables) {
        auto told = env_json::variable_text(value);
        if (told && told != kUnsetVariable) texts[std::string(name)] = *std::move(told);
    }
    return texts;
}

Result<GpkgState> Prefix::state() const {
    const auto file = meta() / kStateFile;
    GPKG_TRY(const auto text, read_optional(file));
    if (trim(text).empty()) return GpkgState{};
    auto state = GpkgState::parse(text, file.native());
    if (state) return state;
    return pass(with_environment_hint(std::move(state).error(), kRepairHint, path_));
}

Result<void> Prefix::write_state(const GpkgState& state) const {
    remove_dead_temporaries_of(meta() / kStateFile);
    return write_file_atomically(meta() / kStateFile, state.to_json());
}

Result<std::string> with_env_vars(const fs::path& prefix, const EnvVarChanges& changes) {
    const auto file = prefix / kVariablesFile;
    GPKG_TRY(const auto text, read_optional(file));
    Json variables = Json::object();  // those that stay, as they are
    Json out = Json::object();
    if (!trim(text).empty()) {
        simdjson::dom::parser parser;
        GPKG_TRY(const auto object, env_json::parse_object(parser, text, file.native()));
        simdjson::dom::object present;
        if (object["env_vars"].get(present) == simdjson::SUCCESS)
            env_json::add_unknown(variables, simdjson::minify(present));
        env_json::add_unknown(out, members_without(object, "env_vars"));
    }
    for (const auto& [name, value] : changes) {
        if (value)
            variables[name] = *value;
        else
            variables.erase(name);
    }
    out["env_vars"] = std::move(variables);
    return dump(out);
}

Result<void> change_env_vars(const fs::path& prefix, const EnvVarChanges& changes) {
    GPKG_TRY(const auto text, with_env_vars(prefix, changes));
    const auto file = prefix / kVariablesFile;
    remove_dead_temporaries_of(file);
    return write_file_atomically(file, text);
}

Error no_environment(const fs::path& path, std::string message, std::string hint) {
    Error error{ErrorKind::NoEnvironment, std::move(message), std::move(hint), {}};
    std::error_code ignored;
    if (fs::is_directory(path, ignored))
        error.exception_name = "DirectoryNotACondaEnvironmentError";
    return error;
}

Result<void> check_not_frozen(const fs::path& prefix) {
    constexpr std::string_view kFrozen = "conda-meta/frozen";
    const auto marker = prefix / kFrozen;
    // Where there is no folder there is no marker; one that cannot be looked at may have it.
    std::error_code code;
    const auto type = fs::status(prefix, code).type();
    if (type != fs::file_type::directory && type != fs::file_type::none) return {};
    const auto text = read_file(marker);
    // A marker that cannot be read still freezes.
    if (!text && text.error().kind == ErrorKind::NotFound) return {};
    std::string message;
    if (text && !trim(*text).empty()) {
        simdjson::dom::parser parser;
        std::string_view told;
        const auto object = env_json::parse_object(parser, *text, marker.native());
        if (object && (*object)["message"].get(told) == simdjson::SUCCESS && !told.empty())
            message = told;
    }
    return fail_as(
        "EnvironmentIsFrozenError",
        ErrorKind::Conflict,
        message.empty()
            ? fmt::format("{}: the environment is frozen by {}", prefix.native(), kFrozen)
            : fmt::format("{}: the environment is frozen: {}", prefix.native(), message),
        fmt::format("to change it anyway: --override-frozen; to change a copy: gpkg create "
                    "-n {} --clone {}",
                    shell_word("my-" + prefix.filename().native()),
                    shell_word(prefix.native())));
}

const PrefixRecord* find_record(const std::vector<PrefixRecord>& records, std::string_view name) {
    const auto found = std::find_if(
        records.begin(), records.end(), [&](const auto& r) { return r.package.name == name; });
    return found == records.end() ? nullptr : &*found;
}

}  // namespace gpkg
