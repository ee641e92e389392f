#include "libcore/build/sources/source.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/base/text.hpp"
#include "libcore/process/process.hpp"
#include "tests/support/catch.hpp"

#include <sys/stat.h>

namespace fs = gpkg::fs;
using gpkg::RecipeSource;
using gpkg::SourceFetchOptions;

namespace source_test {
namespace {

struct Place {
    gpkg::TemporaryFolder folder = gpkg::TemporaryFolder::make(fs::temp_directory_path()).value();
    fs::path at(const std::string& name) const { return folder.path() / name; }
    void write(const std::string& name, const std::string& text) const {
        REQUIRE(gpkg::write_file_atomically(at(name), text));
    }
    std::string read(const std::string& name) const {
        const auto text = gpkg::read_file(at(name));
        return text ? *text : text.error().message;
    }
    void shell(const std::string& text) const {
        gpkg::ProcessCommand command;
        command.arguments = {"sh", "-ec", text};
        command.folder = folder.path();
        REQUIRE(gpkg::run_command(command) == 0);
    }
    gpkg::Result<void> provide(const std::vector<RecipeSource>& sources) const {
        SourceFetchOptions options;
        options.work = at("work");
        options.cache = at("cache");
        return gpkg::provide_sources(sources, options);
    }
    RecipeSource url(const std::string& name) const {
        RecipeSource source;
        source.urls = {"file://" + at(name).native()};
        source.sha256 = gpkg::sha256_of_file(at(name)).value();
        return source;
    }
};

}  // namespace

TEST_CASE("path sources are copied with modes, links and times", "[build]") {
    const Place place;
    place.shell(
        "mkdir -p s/d/empty; echo a > s/d/a; chmod 755 s/d/a; ln -s d/a s/l; "
        "touch -d 2001-02-03T04:05:06Z s/d/a; echo p > one");
    RecipeSource tree;
    tree.path = place.at("s");
    tree.target_directory = "t";
    RecipeSource file;
    file.path = place.at("one");
    REQUIRE(place.provide({tree, file}));
    CHECK(place.read("work/t/d/a") == "a\n");
    CHECK(fs::read_symlink(place.at("work/t/l")) == "d/a");
    CHECK(fs::is_directory(place.at("work/t/d/empty")));
    CHECK((fs::status(place.at("work/t/d/a")).permissions() & fs::perms::owner_exec) !=
          fs::perms::none);
    CHECK(fs::last_write_time(place.at("work/t/d/a")) == fs::last_write_time(place.at("s/d/a")));
    CHECK(place.read("work/one") == "p\n");
}

TEST_CASE("two checkouts of the same give the same modes and times", "[build]") {
    const Place place;
    place.shell(
        "umask 077; mkdir -p s/d; echo a > s/d/a; echo b > s/b; chmod 700 s/b; ln -s b s/l; "
        "mkdir t; (cd s && tar --mtime=@1000 -cf ../old.tar d && tar --mtime=@9000 -cf ../new.tar "
        "b)");
    RecipeSource tree;
    tree.path = place.at("s");
    tree.target_directory = "tree";
    auto older = place.url("old.tar");
    older.target_directory = "old";
    auto newer = place.url("new.tar");
    newer.target_directory = "new";
    SourceFetchOptions options;
    options.work = place.at("work");
    options.cache = place.at("cache");
    options.time = 5000;
    REQUIRE(gpkg::provide_sources({tree, older, newer}, options));
    const auto is = [&](const std::string& path, mode_t mode, std::int64_t time) {
        struct stat status {};
        REQUIRE(::lstat(place.at("work/" + path).c_str(), &status) == 0);
        CHECK((status.st_mode & 07777U) == mode);
        CHECK(status.st_mtim.tv_sec == time);
    };
    is("tree/d", 0755, 5000);
    is("tree/d/a", 0644, 5000);
    is("tree/b", 0755, 5000);
    is("tree/l", 0777, 5000);
    is("old/a", 0644, 1000);
    is("new/b", 0755, 5000);
}

TEST_CASE("url sources are checked, unpacked and patched", "[build]") {
    const Place place;
    place.shell(
        "mkdir -p pkg-1.0/sub; echo old > pkg-1.0/sub/f; tar -czf pkg.tar.gz pkg-1.0; "
        "printf -- '--- a/sub/f\\n+++ b/sub/f\\n@@ -1 +1 @@\\n-old\\n+new\\n' > fix.patch");
    auto source = place.url("pkg.tar.gz");
    source.patches = {place.at("fix.patch")};
    auto plain = place.url("fix.patch");
    plain.file_name = "renamed";
    REQUIRE(place.provide({source, plain}));
    CHECK(place.read("work/sub/f") == "new\n");
    CHECK(fs::exists(place.at("work/renamed")));
    CHECK(fs::exists(place.at("cache/" + source.sha256)));

    // The patch does not apply a second time.
    auto again = RecipeSource{};
    again.path = place.at("fix.patch");
    again.patches = {place.at("fix.patch")};
    const auto failed = place.provide({again});
    REQUIRE_FALSE(failed);
    CHECK(failed.error().message.starts_with(place.at("fix.patch").native() +
                                             ": patch does not apply: "));

    source.sha256 = std::string(64, '0');
    CHECK(place.provide({source}).error().message ==
          "file://" + place.at("pkg.tar.gz").native() + ": sha256 is " +
              gpkg::sha256_of_file(place.at("pkg.tar.gz")).value() + ", but " + source.sha256 +
              " in the recipe");
    source.urls = {"https://example.org/x.tgz"};
    CHECK(place.provide({source}).error().message ==
          "https://example.org/x.tgz: cannot be fetched here");
}

TEST_CASE("the same source may be fetched twice at once", "[build]") {
    const Place place;
    place.write("s", "bytes\n");
    auto source = place.url("s");
    source.urls = {"https://example.org/s"};
    SourceFetchOptions options;
    options.cache = place.at("cache");
    place.write("cache/" + source.sha256, "damaged");
    int fetched = 0;
    options.fetch = [&](const std::string&, const fs::path& target) -> gpkg::Result<void> {
        GPKG_CHECK(gpkg::write_file_atomically(target, "bytes\n"));
        if (++fetched > 1) return {};
        // Another run comes and goes before this one's file has its name.
        options.work = place.at("other");
        return gpkg::provide_sources({source}, options);
    };
    auto outer = options;
    outer.work = place.at("work");
    const auto done = gpkg::provide_sources({source}, outer);
    if (!done) FAIL(done.error().to_string());
    CHECK(fetched == 2);
    CHECK(place.read("work/s") == "bytes\n");
    CHECK(place.read("other/s") == "bytes\n");
    CHECK(place.read("cache/" + source.sha256) == "bytes\n");
    CHECK(std::distance(fs::directory_iterator(place.at("cache")), {}) == 1);
}

TEST_CASE("archives do not write outside", "[build]") {
    const Place place;
    place.shell(
        "mkdir in; echo x > evil; cd in; tar -cPf ../evil.tar ../evil; "
        "ln -s / root; tar -cf ../link.tar root; rm root; mkdir root; echo x > root/gpkg-evil; "
        "tar -rf ../link.tar root/gpkg-evil");
    CHECK(place.provide({place.url("evil.tar")}).error().message ==
          place.at("cache/" + gpkg::sha256_of_file(place.at("evil.tar")).value()).native() +
              ": member '../evil' leads outside of the archive");
    // A link that a later member is to be written through: libarchive refuses or replaces it.
    [[maybe_unused]] const auto result = place.provide({place.url("link.tar")});
    CHECK_FALSE(fs::exists("/gpkg-evil"));
}

TEST_CASE("the digest of a tree sees what a build would see", "[build]") {
    const Place place;
    place.shell("mkdir -p t/d; echo a > t/a; ln -s a t/l; head -c 100000 /dev/zero > t/big");
    const auto digest = [&] { return gpkg::tree_digest(place.at("t")).value(); };
    const auto first = digest();
    place.shell("touch t/a");  // content counts for small files, not time
    CHECK(digest() == first);
    place.shell("echo b > t/a");
    const auto second = digest();
    CHECK(second != first);
    place.shell("touch -d 2001-01-01 t/big");
    const auto third = digest();
    CHECK(third != second);
    place.shell("chmod 600 t/a");
    CHECK(digest() != third);
    place.shell("chmod 644 t/a; ln -sfn d t/l");
    CHECK(digest() != third);
}

TEST_CASE("git sources", "[build]") {
    const Place place;
    if (gpkg::find_program("git").empty()) {
        WARN("no git here: the test is skipped");
        return;
    }
    place.shell(
        "export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b "
        "GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; git init -q -b main s; cd s; "
        "echo 1 > f; git add f; git commit -qm 1; git tag -a -m t v1; git rev-parse HEAD > ../one; "
        "echo 2 > f; git commit -qam 2; git branch other; echo 3 > f; git commit -qam 3");
    RecipeSource source;
    source.git = place.at("s").native();
    SourceFetchOptions options;
    options.work = place.at("work");
    options.cache = place.at("cache");
    const auto file_of = [&](const std::string& reference, int depth) {
        fs::remove_all(options.work);
        source.git_reference = reference;
        source.git_depth = depth;
        const auto done = gpkg::provide_sources({source}, options);
        return done ? place.read("work/f") : done.error().message;
    };
    const auto first = std::string(gpkg::trim(place.read("one")));
    CHECK(file_of("HEAD", 0) == "3\n");
    CHECK(file_of("refs/tags/v1", 0) == "1\n");
    CHECK(file_of("refs/heads/other", 1) == "2\n");
    CHECK(file_of(first, 0) == "1\n");
    CHECK(fs::exists(place.at("work/.git")));
    CHECK(file_of("refs/heads/none", 0) == source.git + ": no branch or tag refs/heads/none");
    CHECK(file_of(std::string(40, '0'), 0) ==
          source.git + ": commit " + std::string(40, '0') + " is not in any branch or tag");

    // A commit that was fetched once is enough, whatever became of the repository.
    fs::rename(place.at("s"), place.at("gone"));
    CHECK(file_of(first, 0) == "1\n");
    CHECK_THAT(file_of("HEAD", 0), ContainsSubstring("does not appear to be a git repository"));
    options.offline = true;
    source.git = "https://example.invalid/a.git";
    CHECK(file_of("refs/tags/v1", 0) ==
          "https://example.invalid/a.git: refs/tags/v1 is not in the source cache, and --offline "
          "is set");
}

TEST_CASE("mirrors come before the recipe's own URLs", "[build]") {
    const Place place;
    place.write("mirror/x", "x");
    auto source = place.url("mirror/x");
    source.urls = {"https://example.invalid/d/x"};
    SourceFetchOptions options;
    options.work = place.at("work");
    options.cache = place.at("cache");
    options.offline = true;
    CHECK_FALSE(gpkg::provide_sources({source}, options));
    options.offline = false;
    options.mirrors = {{"https://example.invalid/d/", "file://" + place.at("mirror/").native()}};
    REQUIRE(gpkg::provide_sources({source}, options));
    CHECK(place.read("work/x") == "x");
    // From then on the cache has it.
    options.mirrors.clear();
    options.offline = true;
    fs::remove_all(options.work);
    CHECK(gpkg::provide_sources({source}, options));
}

TEST_CASE("what git ignores is left out of a work tree", "[build]") {
    const Place place;
    gpkg::ProcessCommand git;
    git.arguments = {"git", "--version"};
    if (!gpkg::run_command(git)) {
        WARN("no git here: the test is skipped");
        return;
    }
    place.shell(
        "mkdir s; cd s; git init -q .; echo '*.o' > .gitignore; echo x > a.o; echo x > a.c");
    RecipeSource source;
    source.path = place.at("s");
    REQUIRE(place.provide({source}));
    CHECK(fs::exists(place.at("work/a.c")));
    CHECK_FALSE(fs::exists(place.at("work/a.o")));
    CHECK_FALSE(fs::exists(place.at("work/.git")));
    source.use_gitignore = false;
    REQUIRE(place.provide({source}));
    CHECK(fs::exists(place.at("work/a.o")));
}

}  // namespace source_test
