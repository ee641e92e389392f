#include "libcore/env/transaction.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/base/text.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/env/sample.hpp"

#include <cstdio>
#include <fmt/format.h>
#include <set>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace gpkg;
using namespace gpkg::samples;

namespace transaction_test {
namespace {

const std::string kBuiltIn(255, 'p');

std::string why(const Result<TransactionReport>& result) {
    return result ? "done" : result.error().message;
}

std::uint64_t inode(const fs::path& path) {
    struct stat status {};
    return ::lstat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

}  // namespace

TEST_CASE("an environment is created, used and emptied again", "[env]") {
    World world;
    const Package a{.name = "a",
                    .files = {{.path = "bin/a",
                               .content = "#!" + kBuiltIn + "/bin/sh\nexit 3\n",
                               .placeholder = kBuiltIn,
                               .mode = 0755},
                              {.path = "lib/a.txt", .content = "plain"},
                              {.path = "lib/copy", .content = "c", .no_link = true},
                              {.path = "lib/link", .content = "a.txt", .soft_link = true}}};
    const auto report = world.install({a});
    REQUIRE(report);
    CHECK(report->hard_linked == 1);
    CHECK(report->copied == 0);
    CHECK(report->copied_on_request == 1);
    CHECK(report->replaced == 1);
    CHECK(report->soft_linked == 1);
    // conda doctor would compare it with the file that the link leads to.
    for (const auto& entry : world.installed("a").paths) {
        if (entry.type == PrefixPathType::SoftLink) CHECK(entry.sha256_in_prefix.empty());
    }
    CHECK(report->cost.files == 4);
    CHECK(report->warnings.empty());

    CHECK(Prefix::is_environment(world.prefix()));
    CHECK(inode(world.prefix() / "lib/a.txt") == inode(world.root() / "pkgs/a-1.0-0/lib/a.txt"));
    CHECK(inode(world.prefix() / "lib/copy") != inode(world.root() / "pkgs/a-1.0-0/lib/copy"));
    CHECK(fs::read_symlink(world.prefix() / "lib/link") == "a.txt");
    const auto text = world.text("bin/a");
    CHECK(text == "#!" + world.prefix().native() + "/bin/sh\nexit 3\n");
    CHECK((fs::status(world.prefix() / "bin/a").permissions() & fs::perms::mask) ==
          fs::perms(0755));

    const auto record = world.installed("a");
    CHECK(record.files == std::vector<std::string>{"bin/a", "lib/a.txt", "lib/copy", "lib/link"});
    CHECK(record.requested_specs == std::vector<std::string>{"a"});
    CHECK(record.paths[0].sha256_in_prefix == hex_digest(DigestKind::Sha256, text));
    CHECK(record.paths[0].prefix_placeholder == kBuiltIn);
    CHECK(record.link_source == (world.root() / "pkgs/a-1.0-0").native());
    const auto history = Prefix::open(world.prefix()).value().history().value();
    REQUIRE(history.size() == 1);
    CHECK(history[0].added ==
          std::vector<std::string>{"https://example.org/main/linux-64::a-1.0-0"});

    REQUIRE(world.remove({"a"}));
    std::set<std::string> left;
    for (const auto& [path, what] : tree_of(world.prefix())) left.insert(path);
    CHECK(left == std::set<std::string>{"conda-meta",
                                        "conda-meta/gpkg",
                                        "conda-meta/gpkg/generations",
                                        "conda-meta/gpkg/generations/1.json.zst",
                                        "conda-meta/gpkg/generations/2.json.zst",
                                        "conda-meta/history"});
    CHECK(Prefix::open(world.prefix()).value().history().value().size() == 2);
    CHECK(inode(world.root() / "pkgs/a-1.0-0/lib/a.txt") != 0);
}

TEST_CASE("files name the prefix that they are linked for", "[env]") {
    World world;
    const Package a{.name = "a",
                    .files = {{.path = "bin/a",
                               .content = "#!" + kBuiltIn + "/bin/sh\n",
                               .placeholder = kBuiltIn,
                               .mode = 0755}}};
    Transaction transaction;
    transaction.prefix = world.prefix();
    transaction.named_prefix = "/seen/elsewhere";
    transaction.link = {world.request(a)};
    REQUIRE(execute(transaction, {}));
    CHECK(world.text("bin/a") == "#!/seen/elsewhere/bin/sh\n");
}

TEST_CASE("copies are made when asked for, and counted", "[env]") {
    World world;
    const Package a{.name = "a", .files = {{.path = "lib/a", .content = "x", .mode = 0750}}};
    TransactionOptions options;
    options.link = LinkMethod::Copy;
    const auto report = world.install({a}, options);
    REQUIRE(report);
    CHECK(report->copied_on_request == 1);
    CHECK(report->hard_linked == 0);
    CHECK(inode(world.prefix() / "lib/a") != inode(world.root() / "pkgs/a-1.0-0/lib/a"));
    CHECK(fs::last_write_time(world.prefix() / "lib/a") ==
          fs::last_write_time(world.root() / "pkgs/a-1.0-0/lib/a"));
    CHECK((fs::status(world.prefix() / "lib/a").permissions() & fs::perms::mask) ==
          fs::perms(0750));
    CHECK(world.installed("a").link_type == LinkType::Copy);
}

TEST_CASE("without hard links and reflinks files are copied, and that is said", "[env]") {
    World world;
    const Package a{
        .name = "a",
        .files = {{.path = "lib/a", .content = "x"}, {.path = "lib/b", .content = "y"}}};
    TransactionOptions options;
    options.fault = [](std::string_view change, const fs::path&) {
        return change == "hard link" || change == "reflink" ? EXDEV : 0;
    };
    const auto report = world.install({a}, options);
    REQUIRE(report);
    CHECK(report->copied == 2);
    CHECK(world.text("lib/b") == "y");

    World other;
    options.link = LinkMethod::HardLink;
    CHECK_THAT(why(other.install({a}, options)), ContainsSubstring("Invalid cross-device link"));
    CHECK(tree_of(other.root() / "envs").empty());
}

TEST_CASE("two packages with one path: the later one's file, and a word", "[env]") {
    World world;
    const Package a{.name = "a", .files = {{.path = "lib/x", .content = "of a"}}};
    const Package b{.name = "b", .files = {{.path = "lib/x", .content = "of b"}}};
    const auto report = world.install({a, b});
    REQUIRE(report);
    CHECK(report->warnings ==
          std::vector<std::string>{
              "lib/x is in both a-1.0-0 and b-1.0-0; the file of the latter is used"});
    CHECK(world.text("lib/x") == "of b");

    SECTION("the winner goes: the other's file comes back") {
        REQUIRE(world.remove({"b"}));
        CHECK(world.text("lib/x") == "of a");
        REQUIRE(world.remove({"a"}));
        CHECK(world.text("lib/x") == "(not there)");
    }
    SECTION("the loser goes: nothing changes") {
        REQUIRE(world.remove({"a"}));
        CHECK(world.text("lib/x") == "of b");
    }
    SECTION("the other package is no longer unpacked: the file stays, and that is said") {
        fs::remove_all(world.root() / "pkgs/a-1.0-0");
        const auto removed = world.remove({"b"});
        REQUIRE(removed);
        CHECK(world.text("lib/x") == "of b");
        CHECK(removed->warnings ==
              std::vector<std::string>{
                  "lib/x of a-1.0-0 was overwritten by a removed package and cannot be restored; "
                  "reinstall a"});
    }
    SECTION("a third one overwrites what is installed") {
        const Package c{.name = "c", .files = {{.path = "lib/x", .content = "of c"}}};
        const auto added = world.install({c});
        REQUIRE(added);
        CHECK(added->warnings.size() == 1);
        CHECK(world.text("lib/x") == "of c");
    }
}

TEST_CASE("files of nobody are not overwritten", "[env]") {
    World world;
    const Package base{.name = "base", .files = {{.path = "lib/base", .content = "b"}}};
    const Package a{.name = "a", .files = {{.path = "lib/x", .content = "of a"}}};
    REQUIRE(world.install({base}));
    REQUIRE(write_file_atomically(world.prefix() / "lib/x", "mine"));
    const auto before = tree_of(world.prefix());

    SECTION("refused") {
        CHECK(why(world.install({a})) ==
              world.prefix().native() + ": a file that belongs to no package is in the way: lib/x");
        CHECK(tree_of(world.prefix()) == before);
    }
    SECTION("the same content is taken over") {
        REQUIRE(write_file_atomically(world.prefix() / "lib/x", "of a"));
        REQUIRE(world.install({a}));
        CHECK(inode(world.prefix() / "lib/x") == inode(world.root() / "pkgs/a-1.0-0/lib/x"));
    }
    SECTION("a folder in the way") {
        fs::remove(world.prefix() / "lib/x");
        REQUIRE(write_file_atomically(world.prefix() / "lib/x/inner", "mine"));
        CHECK(why(world.install({a})) == (world.prefix() / "lib/x").native() +
                                             ": this folder contains lib/x/inner and blocks a "
                                             "file of a-1.0-0");
    }
    SECTION("a file where a folder is needed") {
        const Package b{.name = "b", .files = {{.path = "lib/x/y", .content = "y"}}};
        CHECK(why(world.install({b})) ==
              (world.prefix() / "lib/x").native() +
                  ": a file that belongs to no package; b-1.0-0 has files in it");
    }
}

TEST_CASE("a file the user changed is told before it goes", "[env]") {
    World world;
    const Package a{.name = "a", .files = {{.path = "etc/a.conf", .content = "default"}}};
    REQUIRE(world.install({a}));
    fs::remove(world.prefix() / "etc/a.conf");
    REQUIRE(write_file_atomically(world.prefix() / "etc/a.conf", "changed"));
    fs::last_write_time(world.prefix() / "etc/a.conf",
                        fs::file_time_type::clock::now() + std::chrono::hours(1));
    const auto report = world.remove({"a"});
    REQUIRE(report);
    CHECK(report->warnings ==
          std::vector<std::string>{
              "etc/a.conf of a-1.0-0 was changed after it was installed; the change will be lost"});
}

TEST_CASE("soft links cannot lead a package out of the prefix", "[env]") {
    World world;
    const Package base{.name = "base", .files = {{.path = "lib/base", .content = "b"}}};
    REQUIRE(world.install({base}));
    const auto outside = world.root() / "outside";
    fs::create_directories(outside);
    const Package file{.name = "file", .files = {{.path = "share/x", .content = "x"}}};

    SECTION("a link of the user's") {
        fs::create_symlink(outside, world.prefix() / "share");
        CHECK(why(world.install({file})) ==
              (world.prefix() / "share").native() +
                  ": a link that leads out of the environment; file-1.0-0 has files in it");
    }
    SECTION("a link of another package of the same transaction") {
        const Package link{
            .name = "link",
            .files = {{.path = "share", .content = "../outside", .soft_link = true}}};
        CHECK(why(world.install({link, file})) ==
              "share: a link of link-1.0-0 leads out of the environment, but file-1.0-0 has files "
              "in it");
    }
    SECTION("links of which each seems to stay inside") {
        // What ".." means depends on where the links before it lead.
        const Package way{.name = "way",
                          .files = {{.path = "p/q/r", .content = "../..", .soft_link = true}}};
        const Package direct{
            .name = "direct",
            .files = {{.path = "share", .content = "p/q/r/../../outside", .soft_link = true}}};
        const Package behind{
            .name = "behind",
            .files = {{.path = "p/q/r/s", .content = "../../outside", .soft_link = true}}};
        const Package deep{.name = "deep", .files = {{.path = "p/q/r/s/x", .content = "x"}}};
        const std::string expected =
            "p/q/r/s: a link of behind-1.0-0 leads out of the environment, but deep-1.0-0 has "
            "files in it";
        CHECK(why(world.install({way, direct, file})) ==
              "share: a link of direct-1.0-0 leads out of the environment, but file-1.0-0 has "
              "files in it");
        CHECK(why(world.install({way, behind, deep})) == expected);
        REQUIRE(world.install({way}));
        CHECK(why(world.install({behind, deep})) == expected);
        CHECK(fs::is_empty(outside));
        const Package round{
            .name = "round",
            .files = {{.path = "share", .content = "p/q/r/lib", .soft_link = true}}};
        REQUIRE(world.install({round, file}));
        CHECK(world.text("lib/x") == "x");
    }
    SECTION("links that lead round in circles") {
        const Package link{.name = "link",
                           .files = {{.path = "share", .content = "other/y", .soft_link = true},
                                     {.path = "other", .content = "share", .soft_link = true}}};
        CHECK(why(world.install({link, file})) ==
              "share: a link of link-1.0-0 is broken, but file-1.0-0 has files in it");
    }
    SECTION("a link to where the environment itself is recorded") {
        const Package link{
            .name = "link",
            .files = {{.path = "share", .content = "conda-meta", .soft_link = true}}};
        const Package forger{.name = "forger",
                             .files = {{.path = "share/history", .content = "x"}}};
        const std::string expected =
            ": a link to the reserved folder conda-meta, but forger-1.0-0 has files in it";
        CHECK_THAT(why(world.install({link, forger})), ContainsSubstring(expected));
        REQUIRE(world.install({link}));
        CHECK_THAT(why(world.install({forger})), ContainsSubstring(expected));
        CHECK(world.text("conda-meta/history") != "x");
    }
    SECTION("a link inside is fine, whoever comes first") {
        const Package link{.name = "link",
                           .files = {{.path = "share", .content = "lib", .soft_link = true}}};
        REQUIRE(world.install({file, link}));
        CHECK(world.text("lib/x") == "x");
        REQUIRE(world.remove({"link", "file"}));
        CHECK(world.text("lib/x") == "(not there)");
        CHECK(world.text("lib/base") == "b");
    }
    SECTION("a removed package leaves what lies behind such a link alone") {
        REQUIRE(world.install({file}));
        fs::remove_all(world.prefix() / "share");
        REQUIRE(write_file_atomically(outside / "x", "other"));
        fs::create_symlink(outside, world.prefix() / "share");
        const auto report = world.remove({"file"});
        REQUIRE(report);
        CHECK(report->warnings.size() == 1);
        CHECK(read_file(outside / "x").value() == "other");
    }
    CHECK(fs::exists(outside));
}

TEST_CASE("a link to a folder takes nothing of others along", "[env]") {
    const auto base = [](std::string version, std::string target) {
        Package package{.name = "base", .version = std::move(version)};
        package.files = {{.path = "lib/base", .content = "b"}};
        if (!target.empty())
            package.files.push_back({.path = "lib64", .content = target, .soft_link = true});
        return package;
    };
    const Package user{.name = "user",
                       .files = {{.path = "lib64/user", .content = "u"},
                                 {.path = "lib64/a/b/user", .content = "deep"}}};
    const auto change = [](World& world, const std::vector<Package>& packages) {
        Transaction transaction;
        transaction.prefix = world.prefix();
        transaction.unlink = {world.installed("base")};
        for (const auto& package : packages) transaction.link.push_back(world.request(package));
        return execute(transaction, {});
    };
    struct Row {
        std::string target;
        bool has_store;
        std::string real;
    };
    // With and without the unpacked package of the one that stays.
    for (const auto& row : {Row{"", true, "lib64/user"},
                            Row{"", false, "lib64/user"},
                            Row{"lib", true, "lib/user"},
                            Row{"lib32", true, "lib32/user"},
                            Row{"lib32", false, "lib32/user"}}) {
        CAPTURE(row.target, row.has_store);
        World world;
        REQUIRE(world.install({base("1.0", "lib"), user}));
        REQUIRE(fs::exists(world.prefix() / "lib/user"));
        fs::create_directories(world.prefix() / "lib32");
        if (!row.has_store) fs::remove_all(world.installed("user").extracted_package_dir);
        const auto changed = change(world, {base("2.0", row.target)});
        if (!changed) FAIL(changed.error().to_string());
        CHECK(changed->warnings == std::vector<std::string>{});
        CHECK(world.text("lib64/user") == "u");
        CHECK(world.text("lib64/a/b/user") == "deep");
        const auto tree = tree_of(world.prefix());
        CHECK(tree.contains(row.real));
        CHECK(tree.contains("lib/user") == (row.real == "lib/user"));
    }
}

TEST_CASE("a package behind a link that stays removes its own files alone", "[env]") {
    World world;
    const Package base{.name = "base",
                       .files = {{.path = "lib64", .content = "lib", .soft_link = true},
                                 {.path = "lib/base", .content = "b"},
                                 {.path = "lib/shared", .content = "base's"}}};
    const Package user{.name = "user", .files = {{.path = "lib64/user", .content = "u"}}};
    REQUIRE(world.install({base, user}));
    REQUIRE(world.remove({"user"}));
    CHECK_FALSE(fs::exists(world.prefix() / "lib/user"));
    CHECK(world.text("lib64/shared") == "base's");
}

TEST_CASE("a failing pre-unlink script keeps no package", "[env]") {
    World world;
    const Package bad{
        .name = "bad",
        .files = {{.path = "lib/bad", .content = "x"},
                  {.path = "bin/.bad-pre-unlink.sh", .content = "echo gone >&2\nexit 7\n"}}};
    REQUIRE(world.install({bad}));
    const auto removed = world.remove({"bad"});
    if (!removed) FAIL(removed.error().to_string());
    REQUIRE(removed->warnings.size() == 1);
    CHECK(removed->warnings[0] ==
          "bad-1.0-0: the pre-unlink script failed with exit status 7:\ngone; the package is "
          "removed all the same");
    CHECK_FALSE(fs::exists(world.prefix() / "lib/bad"));
}

TEST_CASE("what cannot work is refused before anything is changed", "[env]") {
    World world;
    const Package a{
        .name = "a",
        .files = {
            {.path = "lib/a.so", .content = "/short/x", .placeholder = "/short", .binary = true}}};
    CHECK(why(world.install({a})) == world.prefix().native() +
                                         ": the path is too long: lib/a.so of a-1.0-0 allows 6 "
                                         "bytes, the path has " +
                                         fmt::format("{}", world.prefix().native().size()));

    const Package pure{.name = "pure",
                       .files = {{.path = "site-packages/p.py", .content = ""}},
                       .noarch = "python"};
    CHECK(why(world.install({pure})) ==
          "pure-1.0-0: a python package, but the environment has no python");

    const Package one{.name = "one", .files = {{.path = "x", .content = ""}}};
    const Package two{.name = "two", .files = {{.path = "x/y", .content = ""}}};
    CHECK(why(world.install({one, two})) == "x: a file in one-1.0-0, but a folder in two-1.0-0");
    CHECK_FALSE(fs::exists(world.root() / "envs"));

    Transaction relative;
    relative.prefix = "envs/x";
    CHECK(why(execute(relative, {})) == "envs/x: the path of an environment must be absolute");
}

TEST_CASE("a change made for another state of the environment is refused", "[env]") {
    World world;
    const Package a{.name = "a", .files = {{.path = "a", .content = "a"}}};
    REQUIRE(world.install({a}));
    Transaction transaction;
    transaction.prefix = world.prefix();
    transaction.link = {world.request(a)};
    CHECK_THAT(why(execute(transaction, {})), ContainsSubstring("a is already installed"));
    transaction.unlink = {world.installed("a")};
    transaction.link.clear();
    REQUIRE(execute(transaction, {}));
    CHECK_THAT(why(execute(transaction, {})),
               ContainsSubstring("a package to be removed is not installed"));
    CHECK_FALSE(fs::exists(world.prefix() / "conda-meta/.gpkg-lock"));
}

TEST_CASE("a prefix of somebody else is refused before anything is changed", "[env]") {
    World world;
    const Package a{.name = "a", .files = {{.path = "lib/a", .content = "a"}}};
    const Package b{.name = "b", .files = {{.path = "lib/b", .content = "b"}}};
    REQUIRE(world.install({a}));
    Transaction transaction;
    transaction.prefix = world.prefix();
    transaction.link = {world.request(b)};
    fs::permissions(world.root(), fs::perms(0755));
    const auto before = tree_of(world.root());
    // As a user who may read it all: root, where the tests are root, may write everywhere.
    const pid_t child = ::fork();
    if (child == 0) {
        if (::geteuid() == 0) {
            if (::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(9);
        } else {
            fs::permissions(world.prefix() / "lib", fs::perms(0555));
            fs::permissions(world.prefix() / "conda-meta", fs::perms(0555));
        }
        const auto cost = preflight(transaction, {});
        const bool told = !cost && cost.error().message.ends_with(": no write permission");
        const auto done = execute(transaction, {});
        const bool refused = !done && done.error().message.ends_with("Permission denied");
        ::_exit((told ? 0 : 1) + (refused ? 0 : 2));
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WEXITSTATUS(status) == 0);
    fs::permissions(world.prefix() / "lib", fs::perms(0755));
    fs::permissions(world.prefix() / "conda-meta", fs::perms(0755));
    CHECK(tree_of(world.root()) == before);
}

TEST_CASE("a frozen environment does not change", "[env]") {
    World world;
    const Package a{.name = "a", .files = {{.path = "a", .content = "a"}}};
    const Package b{.name = "b", .files = {{.path = "b", .content = "b"}}};
    REQUIRE(world.install({a}));
    const auto marker = world.prefix() / "conda-meta/frozen";
    struct Row {
        std::string text, message;
    };
    for (const auto& [text, message] : std::vector<Row>{{"", " by conda-meta/frozen"},
                                                        {R"({"message":"prod"})", ": prod"},
                                                        {"{", " by conda-meta/frozen"}}) {
        REQUIRE(write_file_atomically(marker, text));
        CHECK(why(world.install({b})) ==
              world.prefix().native() + ": the environment is frozen" + message);
    }
    TransactionOptions options;
    options.override_frozen = true;
    CHECK(world.install({b}, options));
}

TEST_CASE("link scripts run with their variables, and speak only by .messages.txt", "[env]") {
    World world;
    const auto script = [](const std::string& action) {
        return "echo noise; echo \"" + action +
               " $PKG_NAME $PKG_VERSION $PKG_BUILDNUM $ROOT_PREFIX $(test \"$PREFIX\" = "
               "\"$SOURCE_DIR\" && echo same)\" >> \"$PREFIX/.messages.txt\"\n";
    };
    const Package a{.name = "a",
                    .files = {{.path = "bin/.a-pre-link.sh", .content = script("pre-link")},
                              {.path = "bin/.a-post-link.sh", .content = script("post-link")},
                              {.path = "bin/.a-pre-unlink.sh", .content = script("pre-unlink")},
                              {.path = "bin/.a-post-unlink.sh", .content = script("post-unlink")}}};
    TransactionOptions options;
    options.root_prefix = "/root-prefix";
    const auto linked = world.install({a}, options);
    REQUIRE(linked);
    CHECK(linked->messages ==
          "pre-link a 1.0 0 /root-prefix same\npost-link a 1.0 0 /root-prefix same\n");
    const auto removed = world.remove({"a"}, options);
    REQUIRE(removed);
    CHECK(removed->messages ==
          "pre-unlink a 1.0 0 /root-prefix same\npost-unlink a 1.0 0 /root-prefix same\n");
    CHECK_FALSE(fs::exists(world.prefix() / ".messages.txt"));
}

TEST_CASE("a failing post-link script undoes it all", "[env]") {
    World world;
    const Package base{.name = "base", .files = {{.path = "lib/base", .content = "b"}}};
    REQUIRE(world.install({base}));
    const auto before = tree_of(world.prefix());
    const Package bad{.name = "bad",
                      .files = {{.path = "lib/bad", .content = "x"},
                                {.path = "bin/.bad-post-link.sh",
                                 .content = "echo one\necho two >&2\nexit 7\n"}}};
    const auto report = world.install({bad});
    CHECK(why(report) == "bad-1.0-0: the post-link script failed with exit status 7:\none\ntwo");
    CHECK(tree_of(world.prefix()) == before);
    TransactionOptions options;
    options.refused_scripts = {"bin/.bad-post-link.sh"};
    CHECK(world.install({bad}, options));
}

TEST_CASE("noarch python packages work with a real python", "[env]") {
    World world;
    std::string version;
    std::string program;
    if (FILE* pipe = ::popen("python3 -E -c 'import sys; print(\"%d.%d\" % sys.version_info[:2], "
                             "sys.executable)' 2>/dev/null",
                             "r")) {
        char line[512] = "";
        if (::fgets(line, sizeof line, pipe) != nullptr) {
            const auto parts = split(trim(line), ' ');
            version = parts.front();
            program = parts.back();
        }
        ::pclose(pipe);
    }
    if (version.empty()) {
        WARN("skipped: no python3 on this machine");
        return;
    }
    const Package python{
        .name = "python",
        .version = version + ".0",
        .files = {{.path = "bin/python" + version,
                   .content = "#!/bin/sh\nPYTHONPATH=" + kBuiltIn + "/lib/python" + version +
                              "/site-packages exec " + program + " \"$@\"\n",
                   .placeholder = kBuiltIn,
                   .mode = 0755}}};
    const Package pure{
        .name = "pure",
        .files = {{.path = "site-packages/pure/__init__.py",
                   .content = "class C:\n    @staticmethod\n    def main():\n        return 5\n"},
                  {.path = "site-packages/pure/broken.py", .content = "def (:\n"},
                  {.path = "python-scripts/tool", .content = "tool", .mode = 0755}},
        .noarch = "python",
        .entry_points = {"pure = pure:C.main"}};
    const auto report = world.install({python, pure});
    if (!report) FAIL(report.error().to_string());
    CHECK(report->compiled == 1);
    REQUIRE(report->warnings.size() == 1);
    CHECK_THAT(report->warnings[0], ContainsSubstring("pure/broken.py"));

    auto tag = version;
    std::erase(tag, '.');
    const auto site = "lib/python" + version + "/site-packages/pure/";
    CHECK(fs::exists(world.prefix() / (site + "__pycache__/__init__.cpython-" + tag + ".pyc")));
    CHECK(world.text("bin/tool") == "tool");
    const auto record = world.installed("pure");
    CHECK(record.files ==
          std::vector<std::string>{site + "__init__.py",
                                   site + "broken.py",
                                   "bin/tool",
                                   "bin/pure",
                                   site + "__pycache__/__init__.cpython-" + tag + ".pyc",
                                   site + "__pycache__/broken.cpython-" + tag + ".pyc"});
    CHECK(record.paths[3].type == PrefixPathType::UnixPythonEntryPoint);
    CHECK(record.paths[4].type == PrefixPathType::PycFile);
    const auto status = std::system((world.prefix() / "bin/pure").c_str());
    CHECK(WEXITSTATUS(status) == 5);

    // Compiled files that nobody recorded go with their source.
    REQUIRE(write_file_atomically(
        world.prefix() / (site + "__pycache__/__init__.cpython-" + tag + ".opt-1.pyc"), "x"));
    REQUIRE(world.remove({"pure"}));
    CHECK_FALSE(fs::exists(world.prefix() / "lib"));

    SECTION("another python needs them linked anew") {
        REQUIRE(world.install({pure}));
        const Package other{.name = "python",
                            .version = "3.1.0",
                            .files = {{.path = "bin/python3.1", .content = "", .mode = 0755}}};
        CHECK(why(world.install({other})) ==
              world.prefix().native() + ": pure-1.0-0 must be relinked for python 3.1");
    }
}

TEST_CASE("the cost is told without a change", "[env]") {
    World world;
    const Package a{.name = "a",
                    .files = {{.path = "lib/a", .content = std::string(1000, 'a')},
                              {.path = "lib/b", .content = kBuiltIn, .placeholder = kBuiltIn}}};
    Transaction transaction;
    transaction.prefix = world.prefix();
    transaction.link = {world.request(a)};
    TransactionOptions options;
    const auto cost = preflight(transaction, options);
    REQUIRE(cost);
    CHECK(cost->files == 2);
    // The file with the prefix, the package's record, and the history, generation, folder and
    // state.
    CHECK(cost->new_bytes == std::uint64_t{6} * 4096);
    options.link = LinkMethod::Copy;
    CHECK(preflight(transaction, options)->new_bytes == std::uint64_t{7} * 4096);
    CHECK_FALSE(fs::exists(world.root() / "envs"));
}

TEST_CASE("requested specs of packages that stay, and gpkg's state, are part of a change",
          "[env]") {
    World world;
    const Package a{.name = "a", .files = {{.path = "a", .content = "a"}}};
    REQUIRE(world.install({a}));
    Transaction transaction;
    transaction.prefix = world.prefix();
    transaction.rewrite = {{"a", std::vector<std::string>{"a>=1"}}};
    transaction.state = GpkgState{.accelerator = "amd", .package_accelerators = {{"x", "none"}}};
    transaction.history.update_specs = {"a>=1"};
    REQUIRE(execute(transaction, {}));
    CHECK(world.installed("a").requested_specs == std::vector<std::string>{"a>=1"});
    const auto prefix = Prefix::open(world.prefix()).value();
    CHECK(prefix.state().value() == *transaction.state);
    CHECK(requested_by_name(prefix.history().value()).at("a") == std::vector<std::string>{"a>=1"});
}

}  // namespace transaction_test
