#include "libcore/build/folder_lock.hpp"

#include "tests/support/catch.hpp"

#include <cerrno>
#include <cstring>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {
int flock_fails_with = 0;
}  // namespace

/// In this program it stands in front of the C library's: few machines have a file system that
/// cannot lock.
extern "C" int flock(int descriptor, int operation) noexcept {
    if (flock_fails_with == 0) return static_cast<int>(::syscall(SYS_flock, descriptor, operation));
    errno = flock_fails_with;
    return -1;
}

using gpkg::FolderLock;

TEST_CASE("a folder is built in by one run at a time", "[build]") {
    const auto folder = gpkg::TemporaryFolder::make(gpkg::fs::temp_directory_path()).value();
    const auto file = folder.path() / "lock";
    {
        const auto lock = FolderLock::take(file, "a");
        REQUIRE(lock);
        CHECK(lock->warning().empty());
        const auto second = FolderLock::take(file, "a");
        REQUIRE_FALSE(second);
        CHECK(second.error().kind == gpkg::ErrorKind::Conflict);
        CHECK(second.error().message == "a: another run of gpkg is building it");
    }
    CHECK(FolderLock::take(file, "a"));
    CHECK(FolderLock::take(folder.path() / "none/lock", "a").error().message ==
          (folder.path() / "none/lock").native() + ": cannot open: No such file or directory");
}

TEST_CASE("where the file system cannot lock, building goes on and says so", "[build]") {
    const auto folder = gpkg::TemporaryFolder::make(gpkg::fs::temp_directory_path()).value();
    const auto file = folder.path() / "lock";
    flock_fails_with = GENERATE(ENOLCK, ENOSYS, EOPNOTSUPP);
    const auto lock = FolderLock::take(file, "a");
    const std::string why = std::strerror(flock_fails_with);
    flock_fails_with = 0;
    REQUIRE(lock);
    CHECK(lock->warning() == file.native() + ": the file system cannot lock (" + why +
                                 "): another gpkg building the same would not be noticed");
}
