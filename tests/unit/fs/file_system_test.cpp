#include "libcore/fs/file_system.hpp"

#include "libcore/fs/file.hpp"
#include "tests/support/catch.hpp"

using namespace gpkg;

namespace file_system_test {
namespace {

constexpr std::string_view kMounts =
    "22 28 0:21 / /proc rw,nosuid shared:14 - proc proc rw\n"
    "28 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw\n"
    "41 28 0:37 / /home rw,nosuid shared:30 - nfs4 nas.example.org:/export/home rw,vers=4.2\n"
    "42 28 0:38 / /scratch rw,flock shared:31 - lustre 10.0.0.1@o2ib:/work rw,lazystatfs\n"
    "43 28 0:39 / /gpfs/proj\\040ects rw - gpfs projects rw\n"
    "44 28 0:40 / /mnt/far rw,nosuid,nodev - fuse.sshfs me@far:/data rw,user_id=1000\n"
    "45 28 0:41 / /cvmfs/software.eessi.io ro - fuse cvmfs2 ro,allow_other\n"
    "46 28 0:42 / /mnt/gluster rw - fuse.glusterfs vol rw\n"
    "47 28 0:43 / /tmp/gpkg-me/ml ro - fuse.squashfuse gpkg:0123 ro\n"
    "48 28 0:44 / /mnt/odd rw - fuse.somefs thing rw\n"
    "49 28 7:0 / /opt/image ro - squashfs /dev/loop0 ro\n"
    "50 28 0:45 / /beegfs rw - beegfs beegfs_nodev rw\n"
    "51 42 0:46 / /scratch/local rw - xfs /dev/sdb1 rw\n"
    "52 28 0:47 / /homework rw - tmpfs none rw\n"
    "half a line\n";

struct Row {
    const char* path;
    const char* title;
    bool is_shared;
    const char* mount_point;
};

}  // namespace

TEST_CASE("which file system a path is on", "[fs]") {
    const Row rows[] = {
        {"/etc", "ext4", false, "/"},
        {"/home", "NFS", true, "/home"},
        {"/home/me/.local", "NFS", true, "/home"},
        {"/homework/x", "tmpfs", false, "/homework"},
        {"/scratch/me/envs", "Lustre", true, "/scratch"},
        {"/scratch/local/x", "xfs", false, "/scratch/local"},
        {"/gpfs/proj ects/a", "GPFS (Spectrum Scale)", true, "/gpfs/proj ects"},
        {"/mnt/far/x", "SSHFS", true, "/mnt/far"},
        {"/cvmfs/software.eessi.io/x", "CVMFS", true, "/cvmfs/software.eessi.io"},
        {"/mnt/gluster", "GlusterFS", true, "/mnt/gluster"},
        {"/tmp/gpkg-me/ml/bin", "FUSE (squashfuse)", false, "/tmp/gpkg-me/ml"},
        {"/mnt/odd", "FUSE (somefs)", true, "/mnt/odd"},
        {"/opt/image", "squashfs", false, "/opt/image"},
        {"/beegfs/a", "BeeGFS", true, "/beegfs"},
    };
    for (const auto& row : rows) {
        CAPTURE(row.path);
        const auto system = file_system_in(kMounts, row.path);
        REQUIRE(system);
        CHECK(system->title == row.title);
        CHECK(system->is_shared == row.is_shared);
        CHECK(system->mount_point == row.mount_point);
    }
    CHECK(file_system_in(kMounts, "/mnt/far/x")->fuse_user == 1000U);
    CHECK_FALSE(file_system_in(kMounts, "/mnt/odd")->fuse_user);
    CHECK(file_system_in(kMounts, "/home")->source == "nas.example.org:/export/home");
    CHECK(file_system_in(kMounts, "/opt/image/bin")->number == "7:0");
    CHECK_FALSE(file_system_in("", "/home"));
}

TEST_CASE("what is mounted over something is what is seen", "[fs]") {
    const auto system = file_system_in(
        "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n2 1 8:2 / /d rw - ext4 /dev/sda2 rw\n"
        "3 2 0:9 / /d rw - nfs s:/d rw\n",
        "/d/x");
    REQUIRE(system);
    CHECK(system->type == "nfs");
}

TEST_CASE("kinds as statfs numbers them", "[fs]") {
    CHECK(is_shared_kind(0x6969) == true);
    CHECK(is_shared_kind(0x0BD00BD0) == true);
    CHECK(is_shared_kind(0x47504653) == true);
    CHECK(is_shared_kind(0xFE534D42) == true);
    CHECK(is_shared_kind(0xFFFFFFFFFE534D42) == true);  // where the system's type has a sign
    CHECK(is_shared_kind(0xEF53) == false);
    CHECK(is_shared_kind(0x794c7630) == false);
    CHECK_FALSE(is_shared_kind(0x65735546).has_value());  // FUSE, which may be anything
}

TEST_CASE("this machine's own disk is not shared", "[fs]") {
    const auto folder = TemporaryFolder::make(fs::temp_directory_path()).value();
    const auto system = file_system_of(folder.path() / "not/yet/there");
    CHECK(system.is_shared == is_on_shared_file_system(folder.path() / "not/yet/there"));
    CHECK_FALSE(system.type.empty());
    CHECK(nearest_existing(folder.path() / "a/b") == folder.path());
}

}  // namespace file_system_test
