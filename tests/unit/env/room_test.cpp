#include "libcore/env/room.hpp"

#include "libcore/fs/file.hpp"
#include "tests/support/catch.hpp"

using namespace gpkg;

namespace room_test {
namespace {

constexpr std::uint64_t kKiB = 1024;

Quota quota(std::uint64_t used, std::uint64_t limit, std::uint64_t files, std::uint64_t most) {
    Quota one;
    one.whose = "user alice";
    one.bytes = {used, limit, 0};
    one.files = {files, most, 0};
    return one;
}

Room room(std::vector<Quota> quotas) {
    Room one;
    one.system = {"lustre", "Lustre", true, "/scratch", "s:/work"};
    one.free_bytes = 10'000'000'000;
    one.free_files = 1'000'000;
    one.quotas = std::move(quotas);
    return one;
}

}  // namespace

TEST_CASE("what lfs quota tells", "[env]") {
    struct Row {
        const char* output;
        QuotaLimit bytes;
        QuotaLimit files;
    };
    const Row rows[] = {
        // Lustre 2.12 and 2.15, with -q and without.
        {"         /lustre7 982177580       0 1000000000       - 443208230       0       0       "
         "-\n",
         {982177580 * kKiB, 1000000000 * kKiB, 0},
         {443208230, 0, 0}},
        {"Disk quotas for usr alice (uid 1000):\n"
         "     Filesystem    kbytes    quota   limit   grace   files   quota   limit   grace\n"
         "          /fred [1041408]  5242880 6291456       -     [0]       0       0       -\n",
         {1041408 * kKiB, 6291456 * kKiB, 5242880 * kKiB},
         {0, 0, 0}},
        {"     /s  300*  256  512  6d23h59m55s  12  10*  20  none\n",
         {300 * kKiB, 512 * kKiB, 256 * kKiB},
         {12, 10, 0}},
        {"     /s  300*  256  512  expired  12  0  20  -\n",
         {300 * kKiB, 256 * kKiB, 0},
         {12, 20, 0}},
        // A long name has a line of its own.
        {"/lustre/with/a/very/long/name/of/a/mount/point\n"
         "                    1840       0 1000000000       -      23       0 3000000       -\n",
         {1840 * kKiB, 1000000000 * kKiB, 0},
         {23, 3000000, 0}},
        // No limits at all.
        {"        /scratch       8       0       0       -       2       0       0       -\n",
         {8 * kKiB, 0, 0},
         {2, 0, 0}},
    };
    for (const auto& row : rows) {
        CAPTURE(row.output);
        const auto told = quota_told_by_lfs(row.output);
        REQUIRE(told);
        CHECK(told->bytes == row.bytes);
        CHECK(told->files == row.files);
    }
    CHECK_FALSE(quota_told_by_lfs(""));
    CHECK_FALSE(quota_told_by_lfs("lfs quota: '/home/alice' not on a mounted Lustre filesystem\n"));
    CHECK_FALSE(quota_told_by_lfs("Permission denied.\n"));
}

TEST_CASE("what quota tells", "[env]") {
    constexpr std::int64_t kNow = 1'790'000'000;
    const auto told = quotas_told_by_quota(
        "Disk quotas for user alice (uid 1000): \n"
        "     Filesystem  blocks   quota   limit   grace   files   quota   limit   grace\n"
        "nas:/export/home 14684160  16777216 20971520       0  163840       0       0       0\n"
        "Disk quotas for group ml (gid 100): none\n"
        "Disk quotas for group hpc (gid 200): \n"
        "     Filesystem  blocks   quota   limit   grace   files   quota   limit   grace\n"
        "nas:/export/home     300*     256     512 1789999999      12*      10      20 "
        "1790000001\n",
        kNow);
    REQUIRE(told.size() == 2);
    CHECK(told[0].whose == "user alice");
    CHECK(told[0].bytes == QuotaLimit{14684160 * kKiB, 20971520 * kKiB, 16777216 * kKiB});
    CHECK(told[0].files == QuotaLimit{163840, 0, 0});
    CHECK(told[1].whose == "group hpc");
    CHECK(told[1].bytes == QuotaLimit{300 * kKiB, 256 * kKiB, 0});  // its time is over
    CHECK(told[1].files == QuotaLimit{12, 20, 10});
    CHECK(quotas_told_by_quota("Disk quotas for user root (uid 0): none\n", kNow).empty());
    CHECK(quotas_told_by_quota("quota: cannot connect\n", kNow).empty());
}

TEST_CASE("the least of what is left counts", "[env]") {
    auto group = quota(0, 500, 5, 7);
    group.whose = "group ml";
    const auto one = room({quota(900, 1000, 10, 100), group});
    CHECK(one.bytes_left() == 100);
    CHECK(one.files_left() == 2);
    CHECK(check_room(one, "/scratch/e", {100, 2}));
    const auto bytes = check_room(one, "/scratch/e", {101, 0});
    REQUIRE_FALSE(bytes);
    CHECK(bytes.error().kind == ErrorKind::Conflict);
    CHECK(bytes.error().message ==
          "/scratch/e: needs 101 B more, but the quota of user alice on Lustre at /scratch leaves "
          "100 B (900 B of 1.0 kB used)");
    const auto files = check_room(one, "/scratch/e", {1, 3});
    REQUIRE_FALSE(files);
    CHECK_THAT(files.error().message, ContainsSubstring("the quota of group ml on Lustre"));
    // What is beyond its limit already may still do what needs nothing.
    CHECK(check_room(room({quota(2000, 1000, 0, 0)}), "/scratch/e", {0, 1}));
    CHECK_FALSE(check_room(room({}), "/scratch/e", {10'000'000'001, 0}));
    CHECK_FALSE(check_room(room({}), "/scratch/e", {0, 1'000'001}));
}

TEST_CASE("what becomes tight is told", "[env]") {
    CHECK(tight_room(room({quota(0, 1000, 0, 1000)}), {900, 900}).empty());
    const auto notes = tight_room(room({quota(0, 1000, 0, 1000)}), {950, 10});
    REQUIRE(notes.size() == 1);
    CHECK_THAT(notes[0], ContainsSubstring("is 95 % used: 950 B of 1.0 kB"));
    auto soft = quota(90, 200, 0, 0);
    soft.bytes.soft = 100;
    const auto over = tight_room(room({soft}), {20, 0});
    REQUIRE(over.size() == 1);
    CHECK_THAT(over[0], ContainsSubstring("the soft quota of user alice"));
    CHECK(quota_text(quota(950, 1000, 12, 100)) == "user alice: 950 B of 1.0 kB, 12 of 100 files");
    CHECK(quota_text(quota(950, 0, 12, 100)) == "user alice: 12 of 100 files");
}

TEST_CASE("a program that does not end is not waited for", "[env]") {
    using namespace std::chrono_literals;
    const auto began = std::chrono::steady_clock::now();
    CHECK_FALSE(ask_within(100ms)({"sleep", "60"}));
    CHECK(std::chrono::steady_clock::now() - began < 5s);
    CHECK(ask_within(10s)({"echo", "said"}) == "said\n");
    CHECK_FALSE(ask_within(10s)({"no-such-program-anywhere"}));
}

TEST_CASE("the room of this machine", "[env]") {
    const auto folder = TemporaryFolder::make(fs::temp_directory_path()).value();
    const auto here = room_at(folder.path() / "not/there");
    REQUIRE(here);
    CHECK(here->all_bytes > 0);
    CHECK(here->free_bytes <= here->all_bytes);
}

}  // namespace room_test
