#include "libcore/package/store.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/package/info.hpp"
#include "libcore/package/verify.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/package_archives.hpp"

#include <atomic>
#include <cstdlib>
#include <ctime>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utime.h>

using namespace gpkg;
using gpkg::tests::info_members;
using gpkg::tests::make_conda;

namespace store_test {
namespace {

/// A store, and an archive with its record beside it.
struct Bench {
    Bench() {
        REQUIRE(folder);
        layout.root = folder->path() / "pkgs";
        const auto bytes = make_conda({{"a", "one"}, {"d/b", "two"}},
                                      info_members({{"a", "one"}, {"d/b", "two"}}));
        archive = folder->path() / "p-1-0.conda";
        REQUIRE(write_file_atomically(archive, bytes));
        record.name = "p";
        record.version = "1";
        record.build = "0";
        record.fn = "p-1-0.conda";
        record.url = "https://conda.example/c/noarch/p-1-0.conda";
        record.channel = "https://conda.example/c";
        record.subdir = "noarch";
        record.depends = {"patched >=1"};
        record.size = bytes.size();
        record.sha256 = hex_digest(DigestKind::Sha256, bytes);
        record.md5 = hex_digest(DigestKind::Md5, bytes);
    }
    PackageStore store() const { return PackageStore(layout); }
    fs::path expected() const { return layout.root / ("p-1-0-" + record.sha256.substr(0, 32)); }
    std::size_t entries() const {
        if (!fs::exists(layout.root)) return 0;
        return static_cast<std::size_t>(std::distance(fs::directory_iterator(layout.root), {}));
    }

    Result<TemporaryFolder> folder = TemporaryFolder::make(fs::temp_directory_path());
    StoreLayout layout;
    fs::path archive;
    PackageRecord record;
};

}  // namespace

TEST_CASE("a package is added once and found by its checksum", "[package]") {
    const Bench bench;
    const auto store = bench.store();
    CHECK_FALSE(store.find(bench.record));
    CHECK(store.list()->empty());
    const auto folder = store.add(bench.archive, bench.record);
    REQUIRE(folder);
    CHECK(*folder == bench.expected());
    CHECK(store.find(bench.record) == bench.expected());
    CHECK(read_file(*folder / "d/b").value() == "two");
    CHECK(fs::exists(bench.archive));
    CHECK(bench.entries() == 1);

    const auto listed = store.list();
    REQUIRE(listed);
    REQUIRE(listed->size() == 1);
    CHECK(listed->at(0).record == bench.record);
    CHECK(listed->at(0).record.depends == std::vector<std::string>{"patched >=1"});

    // The archive is not looked at again.
    CHECK(store.add("/nowhere/p-1-0.conda", bench.record).value() == bench.expected());

    auto other = bench.record;
    other.sha256 = std::string(64, 'a');
    CHECK_FALSE(store.find(other));
    other.sha256.clear();
    other.md5.clear();
    CHECK_FALSE(store.find(other));
    other = bench.record;
    other.name = "../p";
    CHECK_FALSE(store.find(other));
    CHECK_FALSE(store.add(bench.archive, other));
}

TEST_CASE("a record that knows only an md5 is found too", "[package]") {
    Bench bench;
    const auto store = bench.store();
    bench.record.sha256.clear();
    const auto folder = store.add(bench.archive, bench.record);
    REQUIRE(folder);
    CHECK(store.find(bench.record) == *folder);
    const auto stored = read_repodata_record(*folder);
    REQUIRE(stored);
    CHECK(stored->sha256 == sha256_of_file(bench.archive).value());
    CHECK(store.find(*stored) == *folder);  // and by the sha256 it turned out to have

    // A damaged alias is no alias.
    for (const auto* text :
         {"", "../../etc", "p-1-0-short", "q-1-0-0123456789abcdef0123456789abcdef"}) {
        REQUIRE(write_file_atomically(bench.layout.root / ".md5" / bench.record.md5, text));
        CHECK_FALSE(store.find(bench.record));
    }
    CHECK(store.add(bench.archive, bench.record).value() == *folder);
    CHECK(store.find(bench.record) == *folder);
}

TEST_CASE("an archive that is not what the record says leaves the store empty", "[package]") {
    const Bench bench;
    const auto store = bench.store();
    const auto refusal = [&](const PackageRecord& record, const StoreAddOptions& options = {}) {
        const auto done = store.add(bench.archive, record, options);
        REQUIRE_FALSE(done);
        CHECK(done.error().kind == ErrorKind::Integrity);
        CHECK(bench.entries() == 0);
        return done.error().message;
    };
    const auto archive = bench.archive.native();
    auto record = bench.record;
    record.size = 3;
    CHECK(refusal(record) ==
          archive + ": size is " + std::to_string(bench.record.size) + ", expected 3");
    record = bench.record;
    record.sha256 = std::string(64, 'a');
    CHECK(refusal(record) ==
          archive + ": sha256 is " + bench.record.sha256 + ", expected " + record.sha256);
    record = bench.record;
    record.sha256.clear();
    record.md5 = std::string(32, 'b');
    CHECK(refusal(record) == archive + ": md5 is " + bench.record.md5 + ", expected " + record.md5);
    record = bench.record;
    record.version = "2";
    CHECK(refusal(record) == archive + ": contains p-1-0, not p-2-0");

    REQUIRE(write_file_atomically(bench.archive,
                                  make_conda({{"a", "changed"}}, info_members({{"a", "one"}}))));
    StoreAddOptions verified;
    verified.archive_verified = true;
    CHECK(refusal(bench.record, verified) ==
          archive + ": differs from its info/paths.json: \"a\" has 7 bytes, not 3");
}

TEST_CASE("adding can be interrupted", "[package]") {
    const Bench bench;
    for (int after = 0; after < 5; ++after) {
        int asked = 0;
        StoreAddOptions options;
        options.cancelled = [&] { return asked++ >= after; };
        const auto done = bench.store().add(bench.archive, bench.record, options);
        REQUIRE_FALSE(done);
        CHECK(done.error().kind == ErrorKind::Interrupted);
        CHECK(bench.entries() == 0);
    }
}

TEST_CASE("threads that add the same package all win", "[package]") {
    const Bench bench;
    const auto store = bench.store();
    std::atomic<int> good{0};
    std::vector<std::thread> threads;
    threads.reserve(8);
    for (int i = 0; i < 8; ++i)
        threads.emplace_back([&] {
            const auto folder = store.add(bench.archive, bench.record);
            if (folder && *folder == bench.expected()) ++good;
        });
    for (auto& thread : threads) thread.join();
    CHECK(good == 8);
    CHECK(bench.entries() == 1);
    CHECK(verify_unpacked(bench.expected()));
}

TEST_CASE("a folder that is not whole is replaced", "[package]") {
    const Bench bench;
    const auto store = bench.store();
    REQUIRE(write_file_atomically(bench.expected() / "a", "half"));
    CHECK_FALSE(store.find(bench.record));
    CHECK(store.leftovers().value() == std::vector<fs::path>{bench.expected()});
    REQUIRE(store.add(bench.archive, bench.record));
    CHECK(read_file(bench.expected() / "a").value() == "one");
    CHECK(bench.entries() == 1);
    CHECK(store.leftovers()->empty());
}

TEST_CASE("what a killed process left is told from work in progress", "[package]") {
    const Bench bench;
    const auto store = bench.store();
    const pid_t child = ::fork();
    if (child == 0) {
        // Dies in the middle of unpacking, without a chance to clean up.
        StoreAddOptions options;
        int asked = 0;
        options.cancelled = [&] {
            if (++asked > 4) ::_exit(0);
            return false;
        };
        (void)store.add(bench.archive, bench.record, options);
        ::_exit(1);
    }
    int status = 1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(status == 0);
    CHECK(bench.entries() == 1);
    CHECK_FALSE(store.find(bench.record));

    // Of this process, of an unknown machine just now, and of one two days ago.
    const auto mine = TemporaryFolder::make(bench.layout.root, ".tmp-unknown-1-");
    REQUIRE(mine);
    const auto old = bench.layout.root / ".tmp-0123456789abcdef-1-abcdef";
    REQUIRE(write_file_atomically(old / "x", "12345"));
    const auto then = std::time(nullptr) - 2 * 86400L;
    const utimbuf times{then, then};
    REQUIRE(::utime(old.c_str(), &times) == 0);

    const auto left = store.leftovers();
    REQUIRE(left);
    CHECK(left->size() == 2);
    CHECK(std::count(left->begin(), left->end(), mine->path()) == 0);
    CHECK(std::count(left->begin(), left->end(), old) == 1);
    const auto freed = store.remove_leftovers();
    REQUIRE(freed);
    CHECK(freed->freed_bytes >= 5);
    CHECK(bench.entries() == 1);
    REQUIRE(store.add(bench.archive, bench.record));
}

TEST_CASE("layers below the store are consulted", "[package]") {
    const Bench site;
    REQUIRE(site.store().add(site.archive, site.record));
    Bench bench;
    bench.layout.layers = {site.folder->path() / "missing", site.layout.root};
    const auto store = bench.store();
    CHECK(store.find(site.record) == site.expected());
    CHECK(store.add(bench.archive, site.record).value() == site.expected());
    CHECK(bench.entries() == 0);
    CHECK(store.list()->empty());
    CHECK(store.remove(site.expected()).error().message ==
          site.expected().native() + ": not a folder of the package store " +
              bench.layout.root.native());
}

TEST_CASE("a conda cache is used when it proves unchanged", "[package]") {
    Bench bench;
    const auto cache = bench.folder->path() / "conda";
    REQUIRE(make_folders(cache));
    const auto unpacked = cache / "p-1-0";
    REQUIRE(unpack_package(bench.archive, unpacked));
    fs::copy_file(bench.archive, cache / "p-1-0.conda");
    bench.layout.conda_caches = {cache};
    CHECK_FALSE(bench.store().find(bench.record));  // no record: not known what it is
    CHECK(bench.store().find_archive(bench.record) == cache / "p-1-0.conda");

    REQUIRE(write_file_atomically(unpacked / "info/repodata_record.json",
                                  repodata_record_json(bench.record, "").value()));
    CHECK(bench.store().find(bench.record) == unpacked);
    auto other = bench.record;
    other.sha256 = std::string(64, 'a');
    CHECK_FALSE(bench.store().find(other));
    CHECK_FALSE(bench.store().find_archive(other));

    // A program may have written through a hard link.
    REQUIRE(write_file_atomically(unpacked / "a", "eno"));
    CHECK_FALSE(bench.store().find(bench.record));
    CHECK(bench.store().add(bench.archive, bench.record).value() == bench.expected());
}

TEST_CASE("a folder is taken away by name first", "[package]") {
    const Bench bench;
    const auto store = bench.store();
    const auto folder = store.add(bench.archive, bench.record);
    REQUIRE(folder);
    REQUIRE(store.remove(*folder));
    CHECK_FALSE(store.find(bench.record));
    CHECK(bench.entries() == 0);
    CHECK(store.remove(*folder));  // nothing there is no error
    CHECK_FALSE(store.remove(bench.layout.root));
    CHECK_FALSE(store.remove(bench.layout.root / ".md5"));
    CHECK_FALSE(store.remove(bench.layout.root / "x/.."));
}

TEST_CASE("what a folder costs, and what removing it gives back", "[package]") {
    const auto root = TemporaryFolder::make(fs::temp_directory_path());
    REQUIRE(root);
    const auto p = root->path() / "p";
    REQUIRE(write_file_atomically(p / "d/own", "12345"));
    REQUIRE(write_file_atomically(p / "used", "123"));
    REQUIRE(write_file_atomically(p / "twice", "1234567"));
    fs::create_hard_link(p / "used", root->path() / "elsewhere");
    fs::create_hard_link(p / "twice", p / "again");
    fs::create_symlink("own", p / "link");
    const auto usage = folder_usage(p);
    REQUIRE(usage);
    CHECK(usage->files == 6);  // p, d, own, used, twice, link
    // As du counts: what the file system gave, folders included.
    std::uint64_t given = 0;
    for (const auto* name : {"", "d", "d/own", "used", "twice", "link"}) {
        struct stat status {};
        REQUIRE(::lstat((p / name).c_str(), &status) == 0);
        given += static_cast<std::uint64_t>(status.st_blocks) * 512;
    }
    struct stat used {};
    REQUIRE(::lstat((p / "used").c_str(), &used) == 0);
    CHECK(usage->bytes == given);
    CHECK(usage->linked_files == 1);
    CHECK(usage->freed_bytes == given - static_cast<std::uint64_t>(used.st_blocks) * 512);
    CHECK(folder_usage(root->path() / "nothing").error().kind == ErrorKind::NotFound);
}

TEST_CASE("a store that cannot be written says so", "[package]") {
    Bench bench;
    REQUIRE(write_file_atomically(bench.folder->path() / "file", ""));
    bench.layout.root = bench.folder->path() / "file/pkgs";
    const auto done = bench.store().add(bench.archive, bench.record);
    REQUIRE_FALSE(done);
    CHECK(done.error().message ==
          bench.layout.root.native() + ": cannot create the folder: Not a directory");
}

namespace {

void set_time(const fs::path& file, std::int64_t seconds) {
    const struct utimbuf times { seconds, seconds };
    REQUIRE(::utime(file.c_str(), &times) == 0);
}

std::int64_t time_of(const fs::path& file) {
    struct stat status {};
    REQUIRE(::stat(file.c_str(), &status) == 0);
    return status.st_mtim.tv_sec;
}

}  // namespace

TEST_CASE("what was unpacked shortly before a machine failed is verified once", "[package]") {
    Bench bench;
    const auto now = static_cast<std::int64_t>(std::time(nullptr));
    bench.layout.booted = now - 1000;
    REQUIRE(bench.store().add(bench.archive, bench.record));
    REQUIRE(bench.store().find(bench.record));  // the store exists now, and has its mark
    const auto mark = bench.layout.root / ".written";
    CHECK(std::abs(time_of(mark) - (now - 60)) < 10);
    const auto record = bench.expected() / "info/repodata_record.json";

    // Blocks that never came to the disk: the size is right, the content is not.
    REQUIRE(write_file_atomically(bench.expected() / "a", std::string(3, '\0')));
    // Unpacked in this boot, or written out before it: nothing is read.
    CHECK(bench.store().find(bench.record));
    set_time(mark, now - 3000);
    set_time(record, now - 3500);
    CHECK(bench.store().find(bench.record));
    CHECK(time_of(mark) > now - 1000);
    // Between the two: it is none any more, and is unpacked again.
    set_time(mark, now - 3000);
    set_time(record, now - 2000);
    CHECK_FALSE(bench.store().find(bench.record));
    const auto folder = bench.store().add(bench.archive, bench.record);
    REQUIRE(folder);
    CHECK(read_file(*folder / "a").value() == "one");

    // One that is sound stays.
    set_time(mark, now - 3000);
    set_time(record, now - 2000);
    CHECK(bench.store().find(bench.record));
}

}  // namespace store_test
