#include "libcore/lock/lock_format.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/base/text.hpp"
#include "libcore/fs/turn.hpp"
#include "libcore/lock/formats_internal.hpp"
#include "libcore/lock/package_fields_internal.hpp"
#include "libcore/manifest/spec_file.hpp"

#include <fmt/format.h>

namespace gpkg {
namespace {

using yaml::Node;

bool has(const Node& root, std::string_view key) { return root.find(key) != nullptr; }

/// What a file is that is no lock file; empty when nothing comes to mind.
std::string_view other_kind(const Node& root) {
    if (has(root, "dependencies")) return "; it is an environment file";
    if (has(root, "gpkg_profile")) return "; it is a hardware profile";
    if (has(root, "recipe") || has(root, "build") || has(root, "outputs"))
        return "; it is a recipe";
    if (has(root, "lockfileVersion")) return "; it is a lock file of Node.js";
    return {};
}

/// Empty when neither the keys nor the name tell.
std::optional<LockFormat> format_of(const Node& root, std::string_view where) {
    const auto pixi = [&] {
        const auto* version = root.find("version");
        return version != nullptr && version->as_int("version") == 7 ? LockFormat::Pixi7
                                                                     : LockFormat::Pixi6;
    };
    if (has(root, "gpkg_lock")) return LockFormat::Gpkg;
    if (has(root, "environments")) return pixi();
    const bool is_named_pixi = where.ends_with("pixi.lock");
    const auto file = where.substr(where.find_last_of('/') + 1);
    const bool is_named_conda_lock = file.find("conda-lock") != std::string_view::npos;
    if (has(root, "metadata") && has(root, "package") && !is_named_pixi) {
        // The first versions of pixi.lock grew out of conda-lock's only one.
        const auto* version = root.find("version");
        const bool is_first = version == nullptr || version->text() == "1";
        return is_first || is_named_conda_lock ? LockFormat::CondaLock : pixi();
    }
    if (!other_kind(root).empty() || !root.is_map()) return std::nullopt;
    if (is_named_pixi) return pixi();
    if (is_named_conda_lock) return LockFormat::CondaLock;
    return std::nullopt;
}

Result<Node> parse_document(std::string_view text, const std::string& where) {
    if (text.find('\0') != std::string_view::npos)
        return fail(ErrorKind::Parse, where + ": not a text file");
    // A line @EXPLICIT, wherever it stands, makes a file explicit; it is no YAML.
    if (text.starts_with("@EXPLICIT") || text.find("\n@EXPLICIT") != std::string_view::npos)
        return fail(ErrorKind::Parse,
                    where + ": not a lock file but an explicit list of packages (@EXPLICIT)",
                    "to install it: gpkg create -n NAME --file " + shell_word(where));
    return Node::parse(text, where);
}

Result<LockFormat> format_or_fail(const Node& root, const std::string& where) {
    if (const auto format = format_of(root, where)) return *format;
    if (root.is_null()) return fail(ErrorKind::Parse, where + ": not a lock file: it is empty");
    return fail(
        ErrorKind::Parse,
        fmt::format("{}: not a lock file of gpkg, pixi or conda-lock{}",
                    where,
                    root.is_map() ? other_kind(root) : fmt::format("; it is {}", root.kind_name())),
        "expected the key gpkg_lock, environments, or metadata and package");
}

}  // namespace

std::string_view name_of(LockFormat format) {
    switch (format) {
    case LockFormat::Gpkg: return "gpkg.lock";
    case LockFormat::Pixi6: return "pixi.lock version 6";
    case LockFormat::Pixi7: return "pixi.lock version 7";
    case LockFormat::CondaLock: return "conda-lock.yml";
    case LockFormat::Explicit: return "an explicit file";
    }
    return {};
}

std::optional<LockFormat> lock_format_of_name(const fs::path& path) {
    const auto name = path.filename().native();
    if (name.ends_with("gpkg.lock")) return LockFormat::Gpkg;
    if (name.ends_with("pixi.lock")) return LockFormat::Pixi7;
    if (name.ends_with(".txt")) return LockFormat::Explicit;
    if (name.find("conda-lock") != std::string::npos &&
        (name.ends_with(".yml") || name.ends_with(".yaml")))
        return LockFormat::CondaLock;
    return std::nullopt;
}

Result<LockFormat> detect_lock_format(std::string_view text, const std::string& where) {
    GPKG_TRY(const auto root, parse_document(text, where));
    return format_or_fail(root, where);
}

Result<ReadLock> parse_lock(std::string_view text, const std::string& where) {
    if (text.starts_with("<<<<<<< ") || text.find("\n<<<<<<< ") != std::string_view::npos)
        return fail(ErrorKind::Parse,
                    fmt::format("{}: contains merge conflict markers", where),
                    "resolve the conflict, or write the lock again with `gpkg lock`");
    GPKG_TRY(const auto root, parse_document(text, where));
    GPKG_TRY(const auto format, format_or_fail(root, where));
    GPKG_TRY(auto read,
             format == LockFormat::Gpkg        ? lock::read_gpkg(root)
             : format == LockFormat::CondaLock ? lock::read_conda_lock(root)
                                               : lock::read_pixi(root));
    read.format = format;
    read.digest = hex_digest(DigestKind::Sha256, text);
    read.lock.sort();
    return read;
}

Result<ReadLock> read_lock(const fs::path& path) {
    GPKG_TRY(const auto text, read_file(path, kLongestWritten));
    return parse_lock(text, path.string());
}

namespace {

Result<std::string> write_explicit(const LockFile& lock) {
    if (lock.classes.size() == 1)
        return explicit_file(lock.records_of(lock.classes.front()), lock.classes.front().platform);
    std::vector<std::string> names;
    for (const auto& locked : lock.classes) names.push_back(locked.name);
    return fail(
        ErrorKind::Unsupported,
        fmt::format("{} has the packages of one class, but {}",
                    name_of(LockFormat::Explicit),
                    names.empty() ? "the lock has none"
                                  : fmt::format("the lock has {}", join_some(names, "and"))),
        "choose one with --class NAME");
}

/// Whether a lock may be written over the file. One that a merge or a full disk damaged still
/// has a lock's name and its keys.
bool is_lock(const fs::path& path) {
    const auto text = read_file(path, kLongestWritten);
    if (!text) return false;
    if (trim(*text).empty() || detect_lock_format(*text, path.native())) return true;
    const auto has = [&](const char* key) { return text->find(key) != std::string::npos; };
    if (path.extension() == ".lock" && (has("gpkg_lock:") || has("packages:"))) return true;
    const auto file = parse_spec_file(*text, path.native(), {});
    return file && file->is_explicit;
}

Result<std::string> text_of(const LockFile& lock, LockFormat format) {
    switch (format) {
    case LockFormat::Gpkg: return lock::write_gpkg(lock);
    case LockFormat::Pixi6: return lock::write_pixi(lock, 6);
    case LockFormat::Pixi7: return lock::write_pixi(lock, 7);
    case LockFormat::CondaLock: return lock::write_conda_lock(lock);
    case LockFormat::Explicit: return write_explicit(lock);
    }
    return {};
}

}  // namespace

Result<std::string> format_lock(LockFile lock, LockFormat format) {
    lock.sort();
    for (const auto& package : lock.packages) GPKG_CHECK(lock::check_writable(package.record));
    GPKG_TRY(auto text, text_of(lock, format));
    // What cannot be read must not be written: names and texts have rules that stand there.
    const auto name = std::string(name_of(format));
    auto again = format == LockFormat::Explicit
                     ? parse_spec_file(text, name, {}).transform([](const auto&) {})
                     : parse_lock(text, name).transform([](const auto&) {});
    if (!again)
        return fail(ErrorKind::Unsupported,
                    fmt::format("the new lock would not be readable: {}", again.error().message),
                    again.error().hint);
    return text;
}

Result<void> check_lock_output(const fs::path& path) {
    return check_replaceable(path, "a lock file", is_lock);
}

Result<void> write_lock(LockFile lock, LockFormat format, const fs::path& path) {
    GPKG_TRY(const auto text, format_lock(std::move(lock), format));
    GPKG_CHECK(check_lock_output(path));
    return write_file_atomically(behind_links(path), text);
}

Result<void> write_lock_over(const ReadLock& before, LockFile lock, const fs::path& path) {
    GPKG_TRY(const auto text, format_lock(std::move(lock), LockFormat::Gpkg));
    const auto file = behind_links(path);
    constexpr std::chrono::seconds kLongest(5);  // others have theirs as long as it takes to write
    const auto turn = wait_for_turn(fs::absolute(file).parent_path(), {}, kLongest);
    GPKG_TRY(const auto now, read_file(file, kLongestWritten));
    if (hex_digest(DigestKind::Sha256, now) != before.digest)
        return fail(ErrorKind::Conflict,
                    fmt::format("{}: changed while this command was running; nothing was written",
                                path.native()),
                    "run the command again");
    return write_file_atomically(file, text);
}

}  // namespace gpkg
