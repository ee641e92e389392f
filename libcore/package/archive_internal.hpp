#pragma once

// libarchive, as this folder needs it: the members of a package in the order they lie in the
// archive, whichever of the two formats it has.

#include "libcore/base/error.hpp"
#include "libcore/fs/arriving_file.hpp"
#include "libcore/fs/byte_source.hpp"
#include "libcore/fs/file.hpp"
#include "libcore/package/libarchive_internal.hpp"

#include <cstdint>
#include <functional>
#include <locale.h>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// libarchive converts the names of members through the thread's locale, which this sets while it
/// lives.
///
/// Utf8: for writing, which loses letters beyond ASCII under any other.
/// Bytes: for reading. Under UTF-8, names of PAX headers are composed (NFC), so that two files get
/// one name, and one file another than it has; names that cannot be converted are left as they are,
/// and under "C" no name beyond ASCII can be.
class NameLocale {
public:
    enum class Names { Utf8, Bytes };
    explicit NameLocale(Names names);
    ~NameLocale();
    NameLocale(const NameLocale&) = delete;
    NameLocale& operator=(const NameLocale&) = delete;

private:
    locale_t before_;
};

enum class Part {
    Whole,    ///< the one tar of a .tar.bz2
    Info,     ///< info-*.tar.zst
    Payload,  ///< pkg-*.tar.zst
};

enum class MemberKind { File, SoftLink, HardLink, Directory, Special };

/// The files of info/ that tell what a package is. Others (licenses, recipes, tests) only accompany
/// it; cph packs some of those with the payload, so they may lie in either member of a .conda.
bool is_metadata(std::string_view name_in_info);

/// What a tar says of a member. Nothing of it is checked.
struct Member {
    Part part = Part::Whole;
    MemberKind kind = MemberKind::File;
    std::string path;
    std::string link;  ///< where a link leads
    std::uint64_t size = 0;
    bool executable = false;
    bool set_id = false;
    std::int64_t mtime = 0;
    long mtime_nanoseconds = 0;
};

using OnBlock = std::function<Result<void>(std::uint64_t offset, std::string_view block)>;
/// Hands over the content of the member at hand, in order, perhaps with holes between the blocks.
using ReadContent = std::function<Result<void>(const OnBlock&)>;
using OnMember = std::function<Result<void>(const Member&, const ReadContent&)>;

enum class Walk { Everything, InfoOnly };

/// Adds to the warnings while they are few: an archive may give cause for millions.
void warn(std::vector<std::string>& warnings, std::string text);

/// Visits the members of the package. InfoOnly jumps over the payload of a .conda and ends after
/// its info- member; of a .tar.bz2 everything is visited. `warnings` takes departures from CEP 35.
Result<void> walk_package(const fs::path& archive,
                          Walk walk,
                          std::vector<std::string>& warnings,
                          const OnMember& on_member);

/// The same of all members of a package that is still arriving. Its zip is believed in what it says
/// before each member, and not in the directory at its end; a zip that says it only there is an
/// error. `name` is that of the package in errors.
Result<void> walk_package(const std::shared_ptr<ArrivingFile>& archive,
                          const std::string& name,
                          std::vector<std::string>& warnings,
                          const OnMember& on_member);

/// Visits the members of a tar, the info part of a .conda, whose bytes come from `source`.
Result<void> walk_tar(const ByteSource& source,
                      std::string_view name,
                      std::vector<std::string>& warnings,
                      const OnMember& on_member);

}  // namespace gpkg
