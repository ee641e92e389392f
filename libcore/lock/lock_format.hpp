#pragma once

// The formats of lock files: gpkg's own, pixi.lock of the versions 1 to 7, and conda-lock.yml
// (CEP 37). All are YAML, and are read without network. Files with the line @EXPLICIT are only
// written here; manifest/spec_file.hpp reads them.

#include "libcore/fs/file.hpp"
#include "libcore/lock/lock_file.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

enum class LockFormat {
    Gpkg,       ///< holds everything that a LockFile can say
    Pixi6,      ///< and before, which are not written: one class for each environment and platform
    Pixi7,      ///< its platforms may be classes
    CondaLock,  ///< one class for each category and platform; `main` is the default environment
    Explicit,   ///< the package files of one class, and nothing else (CEP 23)
};

/// "pixi.lock version 6", for messages.
std::string_view name_of(LockFormat format);

/// What is called so: "environment-pixi.lock" is pixi's in its newest version, "linux.txt" an
/// explicit file. Nothing where a name tells none of them.
std::optional<LockFormat> lock_format_of_name(const fs::path& path);
/// The names that do, for hints.
inline constexpr const char* kLockNames =
    "gpkg.lock, pixi.lock, conda-lock.yml, or NAME.txt for an explicit list";

struct ReadLock {
    LockFile lock;
    LockFormat format = LockFormat::Gpkg;
    std::vector<std::string> warnings;  ///< each begins with its place
    std::string digest{};               ///< SHA-256 of the text
};

/// What kind of lock file a text is. Its content decides; where that is cut off, its name does.
Result<LockFormat> detect_lock_format(std::string_view text, const std::string& where);

Result<ReadLock> read_lock(const fs::path& path);
/// The same from a text. `where` begins every error: "pixi.lock:3:5: ...".
Result<ReadLock> parse_lock(std::string_view text, const std::string& where);

/// The file's text; the same for lock files that say the same. An error where the format has no
/// words for what is locked, or what is there could not be read again.
Result<std::string> format_lock(LockFile lock, LockFormat format);
/// An error where a file is that is neither a lock file nor an explicit file.
Result<void> check_lock_output(const fs::path& path);
/// Writes it to `path`, if check_lock_output() allows it.
Result<void> write_lock(LockFile lock, LockFormat format, const fs::path& path);
/// The same in place of gpkg's own lock file that was read there. Conflict where that has changed
/// since: what another process wrote would be lost.
Result<void> write_lock_over(const ReadLock& before, LockFile lock, const fs::path& path);

}  // namespace gpkg
