// A transaction is stopped between any two changes it makes to the file system: by the end of its
// process, by a full disk, and again while it is being recovered. What is left must be the old or
// the new environment, to the byte, with nothing beside it.

#include "tests/support/catch.hpp"
#include "tests/support/effort.hpp"
#include "tests/unit/env/sample.hpp"

#include <atomic>
#include <cerrno>
#include <sys/wait.h>
#include <unistd.h>

using namespace gpkg;
using namespace gpkg::samples;
using namespace std::string_literals;
using Catch::Matchers::Equals;

namespace crash_test {
namespace {

constexpr int kKilled = 99;
const std::string kBuiltIn =
    "/placeholder_placeholder_placeholder_placeholder_placeholder_"
    "placeholder_placeholder_placeholder_placeholder_placeholder";

/// Stands for an interpreter: "compiles" what compileall would be given.
const std::string kPython =
    "#!/bin/sh\n"
    "while read -r f; do d=${f%/*}; b=${f##*/}; mkdir -p \"$d/__pycache__\"; "
    "echo compiled > \"$d/__pycache__/${b%.py}.cpython-312.pyc\"; done\n";

Package python() {
    return {.name = "python",
            .version = "3.12.1",
            .files = {{.path = "bin/python3.12", .content = kPython, .mode = 0755}}};
}
Package first_a() {
    return {.name = "a",
            .version = "1.0",
            .files = {{.path = "bin/a",
                       .content = "#!" + kBuiltIn + "/bin/x\n",
                       .placeholder = kBuiltIn,
                       .mode = 0755},
                      {.path = "lib/liba.so",
                       .content = kBuiltIn + "/lib\0end"s,
                       .placeholder = kBuiltIn,
                       .binary = true},
                      {.path = "lib/old/deep/only.txt", .content = "old"},
                      {.path = "share/x/in-a-folder", .content = "x"},
                      {.path = "share/y", .content = "a file"},
                      {.path = "lib/liba.so.1", .content = "liba.so", .soft_link = true},
                      {.path = "bin/.a-pre-unlink.sh", .content = "exit 0\n", .mode = 0755}}};
}
Package second_a() {
    return {.name = "a",
            .version = "2.0",
            .files = {{.path = "bin/a",
                       .content = "#!" + kBuiltIn + "/bin/y\n",
                       .placeholder = kBuiltIn,
                       .mode = 0755},
                      {.path = "lib/liba.so",
                       .content = kBuiltIn + "/lib\0END"s,
                       .placeholder = kBuiltIn,
                       .binary = true,
                       .no_link = true},
                      {.path = "share/x", .content = "now a file"},
                      {.path = "share/y/in-a-folder", .content = "now a folder"},
                      {.path = "lib/liba.so.1", .content = "liba.so", .soft_link = true},
                      {.path = "lib/copied", .content = "copied", .no_link = true},
                      {.path = "bin/.a-post-link.sh",
                       .content = "echo linked >> \"$PREFIX/.messages.txt\"\n",
                       .mode = 0755}}};
}
Package pure() {
    return {.name = "pure",
            .files = {{.path = "site-packages/pure/__init__.py", .content = "x = 1\n"},
                      {.path = "python-scripts/pure-run", .content = "run", .mode = 0755}},
            .noarch = "python",
            .entry_points = {"pure = pure:main"}};
}
Package stays() { return {.name = "stays", .files = {{.path = "lib/stays", .content = "stays"}}}; }
Package goes() {
    return {.name = "goes",
            .files = {{.path = "lib/goes/one", .content = "1"},
                      {.path = "lib/goes/two", .content = "2"}}};
}

/// The paths in which two trees differ, with what is there.
std::string difference(const std::map<std::string, std::string>& now,
                       const std::map<std::string, std::string>& wanted) {
    std::string out;
    for (const auto& [path, what] : now) {
        const auto other = wanted.find(path);
        if (other == wanted.end()) {
            out.append("not wanted: ").append(path).append("\n");
        } else if (other->second != what) {
            out.append(path).append(": ").append(what).append("\n  wanted: ");
            out.append(other->second).append("\n");
        }
    }
    for (const auto& [path, what] : wanted) {
        if (!now.contains(path)) out.append("missing: ").append(path).append("\n");
    }
    return out;
}

/// One change, and the environments before and after.
class Scenario {
public:
    virtual ~Scenario() = default;
    virtual Result<TransactionReport> run(const TransactionOptions& options) = 0;

    World world;
    fs::path envs() const { return world.root() / "envs"; }
    fs::path before() const { return world.root() / "before"; }

    void remember() {
        REQUIRE(make_folders(envs()));
        fs::copy(envs(), before(), fs::copy_options::recursive | fs::copy_options::copy_symlinks);
        old_tree = tree_of(envs());
        const auto done = run({});
        if (!done) FAIL(done.error().to_string());
        new_tree = tree_of(envs());
        CHECK_FALSE(new_tree == old_tree);
    }
    void reset() const {
        fs::remove_all(envs());
        fs::copy(before(), envs(), fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    }
    void require_old_or_new() const {
        const auto now = tree_of(envs());
        if (now != old_tree) REQUIRE_THAT(difference(now, new_tree), Equals(""));
    }

    std::map<std::string, std::string> old_tree;
    std::map<std::string, std::string> new_tree;
};

class Update : public Scenario {
public:
    Update() {
        REQUIRE(world.install({python(), first_a(), stays(), goes()}));
        REQUIRE(write_file_atomically(world.prefix() / "lib/mine", "the user's"));
        fs::create_directories(world.prefix() / "share/empty");
        remember();
    }
    Result<TransactionReport> run(const TransactionOptions& options) override {
        Transaction transaction;
        transaction.prefix = world.prefix();
        transaction.unlink = {world.installed("a"), world.installed("goes")};
        transaction.link = {world.request(second_a(), {"a>=2"}), world.request(pure())};
        transaction.rewrite = {{"stays", std::vector<std::string>{"stays"}}};
        transaction.history.command = "gpkg install a>=2 pure";
        transaction.state = GpkgState{.accelerator = "nvidia"};
        return execute(transaction, options);
    }
};

/// A link leaves, or leads elsewhere: what others have behind it comes back at its own place.
class LinkLeaves : public Scenario {
public:
    explicit LinkLeaves(std::string version = "2.0") : version_(std::move(version)) {
        const Package first{.name = "base",
                            .files = {{.path = "lib64", .content = "lib", .soft_link = true},
                                      {.path = "lib/base", .content = "1"},
                                      {.path = "other/base", .content = "1"}}};
        const Package user{.name = "user",
                           .files = {{.path = "lib64/user", .content = "u"},
                                     {.path = "lib64/deep/user", .content = "d"},
                                     {.path = "lib/own", .content = "o"}}};
        REQUIRE(world.install({first, user, stays()}));
        remember();
    }
    Result<TransactionReport> run(const TransactionOptions& options) override {
        Transaction transaction;
        transaction.prefix = world.prefix();
        transaction.unlink = {world.installed("base")};
        Package next{.name = "base", .version = version_};
        next.files = {{.path = "lib/base", .content = "2"}};
        if (version_ == "3.0")
            next.files.push_back({.path = "lib64", .content = "other", .soft_link = true});
        transaction.link = {world.request(next)};
        return execute(transaction, options);
    }

private:
    std::string version_;
};

class LinkChanges : public LinkLeaves {
public:
    LinkChanges() : LinkLeaves("3.0") {}
};

class Create : public Scenario {
public:
    Create() { remember(); }
    Result<TransactionReport> run(const TransactionOptions& options) override {
        return world.install({python(), second_a(), pure()}, options);
    }
};

/// Into a folder that is there and empty: it must stay.
class CreateInEmptyFolder : public Scenario {
public:
    CreateInEmptyFolder() {
        fs::create_directories(world.prefix());
        remember();
    }
    Result<TransactionReport> run(const TransactionOptions& options) override {
        return world.install({python(), second_a(), pure()}, options);
    }
};

/// Runs `work` in a process that ends before its change number `step`. False: it ended before.
template <typename Work>
bool killed_at(int step, Work work) {
    const pid_t child = ::fork();
    if (child == 0) {
        std::atomic<int> count{0};
        TransactionOptions options;
        options.fault = [&](std::string_view, const fs::path&) -> int {
            if (count++ == step) ::_exit(kKilled);
            return 0;
        };
        work(options);
        ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    return WEXITSTATUS(status) == kKilled;
}

template <typename Kind>
void kill_everywhere() {
    Kind scenario;
    int old_count = 0;
    int step = 0;
    for (;; ++step) {
        scenario.reset();
        if (!killed_at(step, [&](const auto& options) { (void)scenario.run(options); })) break;
        CAPTURE(step);
        const auto recovered = recover(scenario.world.prefix(), {});
        if (!recovered) FAIL(recovered.error().to_string());
        const auto now = tree_of(scenario.envs());
        const bool old = now == scenario.old_tree;
        if (!old) REQUIRE_THAT(difference(now, scenario.new_tree), Equals(""));
        old_count += old ? 1 : 0;
        // Recovering again changes nothing, and the environment can be used.
        CHECK(recover(scenario.world.prefix(), {}).value() == Recovery::Nothing);
        CHECK(prefix_condition(scenario.world.prefix()) == PrefixCondition::Settled);
    }
    CHECK(tree_of(scenario.envs()) == scenario.new_tree);
    CHECK(step > 20);
    CHECK(old_count > 10);
    CHECK(old_count < step);
}

template <typename Kind>
void kill_recovery_everywhere(int stride) {
    Kind scenario;
    for (int step = 0;; step += stride) {
        bool stopped = true;
        for (int inner = 0; stopped; ++inner) {
            scenario.reset();
            if (!killed_at(step, [&](const auto& options) { (void)scenario.run(options); })) return;
            stopped = killed_at(inner, [&](const auto& options) {
                (void)recover(scenario.world.prefix(), options);
            });
            CAPTURE(step, inner);
            const auto recovered = recover(scenario.world.prefix(), {});
            if (!recovered) FAIL(recovered.error().to_string());
            scenario.require_old_or_new();
        }
    }
}

bool needs_space(std::string_view change) {
    return change.starts_with("make") || change.starts_with("write") ||
           change.starts_with("copy") || change.ends_with("link");
}

template <typename Kind>
void fill_disk_everywhere(bool stays_full) {
    Kind scenario;
    for (int step = 0;; ++step) {
        scenario.reset();
        std::atomic<int> count{0};
        TransactionOptions options;
        options.fault = [&](std::string_view change, const fs::path&) -> int {
            if (!needs_space(change)) return 0;
            const int now = count++;
            return now == step || (stays_full && now > step) ? ENOSPC : 0;
        };
        const auto done = scenario.run(options);
        if (count <= step) {
            REQUIRE(done);
            return;
        }
        CAPTURE(step);
        if (done) continue;
        // Without a further command, unless it was past the turning point.
        const auto now = tree_of(scenario.envs());
        const bool settled = now == scenario.old_tree;
        if (!settled) {
            CHECK_THAT(done.error().to_string(), ContainsSubstring("to finish: gpkg repair"));
            REQUIRE(recover(scenario.world.prefix(), {}));
            REQUIRE_THAT(difference(tree_of(scenario.envs()), scenario.new_tree), Equals(""));
        }
        CHECK_THAT(done.error().message, ContainsSubstring("No space left on device"));
    }
}

}  // namespace

TEST_CASE("an update killed anywhere is undone or finished", "[env][crash]") {
    kill_everywhere<Update>();
}

TEST_CASE("what others have behind a link that leaves survives a kill anywhere", "[env][crash]") {
    kill_everywhere<LinkLeaves>();
    kill_everywhere<LinkChanges>();
}

TEST_CASE("a creation killed anywhere leaves nothing or everything", "[env][crash]") {
    kill_everywhere<Create>();
}

TEST_CASE("a creation in an empty folder leaves the folder or everything", "[env][crash]") {
    kill_everywhere<CreateInEmptyFolder>();
}

TEST_CASE("a recovery killed anywhere can be repeated", "[env][crash]") {
    const int more = tests::test_effort() < 1 ? 6 : 1;
    kill_recovery_everywhere<Update>(4 * more);
    kill_recovery_everywhere<Create>(5 * more);
    kill_recovery_everywhere<CreateInEmptyFolder>(7 * more);
}

TEST_CASE("a disk that is full for a moment, or from then on, costs nothing", "[env][crash]") {
    for (const bool stays_full : {false, true}) {
        fill_disk_everywhere<Update>(stays_full);
        fill_disk_everywhere<Create>(stays_full);
        fill_disk_everywhere<CreateInEmptyFolder>(stays_full);
    }
}

namespace {

/// The packages run no scripts, whose files could not be told from the user's.
Package plain(std::string version) {
    return {.name = "plain",
            .version = version,
            .files = {{.path = "bin/plain",
                       .content = "#!" + kBuiltIn + "/bin/" + version + "\n",
                       .placeholder = kBuiltIn},
                      {.path = "share/plain/of-" + version, .content = version},
                      {.path = "share/copied", .content = version, .no_link = true}}};
}

class UpdatePlain : public Scenario {
public:
    UpdatePlain() {
        REQUIRE(world.install({plain("1")}));
        remember();
    }
    Result<TransactionReport> run(const TransactionOptions& options) override {
        Transaction transaction;
        transaction.prefix = world.prefix();
        transaction.unlink = {world.installed("plain")};
        transaction.link = {world.request(plain("2"))};
        return execute(transaction, options);
    }
};

class CreatePlain : public Scenario {
public:
    CreatePlain() { remember(); }
    Result<TransactionReport> run(const TransactionOptions& options) override {
        return world.install({plain("2")}, options);
    }
};

/// Kills everywhere; where that is undone, what the user put there meanwhile has to stay. Returns
/// how often it was.
template <typename Kind>
int write_meanwhile(const std::vector<std::string>& paths) {
    Kind scenario;
    int undone = 0;
    for (int step = 0;; ++step) {
        scenario.reset();
        if (!killed_at(step, [&](const auto& options) { (void)scenario.run(options); })) break;
        CAPTURE(step);
        const auto& prefix = scenario.world.prefix();
        // Nor where the creation has not come to the prefix's own name.
        if (prefix_condition(prefix) != PrefixCondition::Interrupted || !fs::exists(prefix) ||
            fs::exists(prefix / "conda-meta/.gpkg-transaction/committed"))
            continue;
        for (const auto& path : paths) {
            // As editors do, that write anew and rename.
            REQUIRE(write_file_atomically(prefix / path, "the thesis"));
        }
        // With further names, as some tools make them.
        fs::create_directories(prefix / "data/empty");
        fs::create_hard_link(prefix / paths.back(), prefix / "data/linked");
        fs::create_symlink("linked", prefix / "data/soft");
        REQUIRE(write_file_atomically(prefix / "data/mine.pyc", "compiled"));
        REQUIRE(recover(prefix, {}).value() == Recovery::RolledBack);
        ++undone;
        CHECK(read_file(prefix / "data/linked").value_or("") == "the thesis");
        CHECK(read_file(prefix / "data/soft").value_or("") == "the thesis");
        CHECK(fs::exists(prefix / "data/mine.pyc"));
        CHECK(fs::exists(prefix / "data/empty"));
        fs::remove_all(prefix / "data/linked");
        fs::remove_all(prefix / "data/soft");
        fs::remove_all(prefix / "data/mine.pyc");
        auto now = tree_of(scenario.envs());
        for (const auto& path : paths) {
            const auto kept =
                fs::exists(prefix / (path + ".gpkg-saved")) ? path + ".gpkg-saved" : path;
            CAPTURE(path);
            CHECK(read_file(prefix / kept).value_or("") == "the thesis");
            if (!scenario.old_tree.contains("test/" + kept)) now.erase("test/" + kept);
        }
        // Nothing but that is there.
        for (const auto& [path, what] : now) {
            CAPTURE(path, what);
            CHECK((scenario.old_tree.contains(path) || what == "folder"));
        }
        for (const auto& [path, what] : scenario.old_tree) CHECK(now.contains(path));
    }
    return undone;
}

}  // namespace

TEST_CASE("undoing an interrupted change leaves what the user put there meanwhile",
          "[env][crash]") {
    // A link at a path that leaves, comes, or is changed.
    UpdatePlain scenario;
    for (int step = 0;; ++step) {
        scenario.reset();
        if (!killed_at(step, [&](const auto& options) { (void)scenario.run(options); })) break;
        const auto& prefix = scenario.world.prefix();
        // Nor where the creation has not come to the prefix's own name.
        if (prefix_condition(prefix) != PrefixCondition::Interrupted || !fs::exists(prefix) ||
            fs::exists(prefix / "conda-meta/.gpkg-transaction/committed") ||
            fs::exists(fs::symlink_status(prefix / "bin/plain")))
            continue;
        CAPTURE(step);
        fs::create_symlink("nowhere", prefix / "bin/plain");
        REQUIRE(recover(prefix, {}));
        CHECK(fs::is_symlink(prefix / "bin/plain.gpkg-saved"));
        CHECK(fs::is_regular_file(prefix / "bin/plain"));
    }
    CHECK(write_meanwhile<UpdatePlain>({"bin/plain", "share/plain/of-2", "share/mine"}) > 10);
    CHECK(write_meanwhile<CreatePlain>({"share/plain/of-2", "share/copied", "data/thesis"}) > 10);
}

TEST_CASE("without the store an interrupted creation is undone all the same", "[env][crash]") {
    CreatePlain scenario;
    scenario.reset();
    int step = 0;
    const auto bin = scenario.world.prefix() / "share/copied";
    do {
        scenario.reset();
        REQUIRE(killed_at(step++, [&](const auto& options) { (void)scenario.run(options); }));
    } while (!fs::exists(bin));
    fs::remove_all(scenario.world.root() / "pkgs");
    REQUIRE(recover(scenario.world.prefix(), {}).value() == Recovery::RolledBack);
    CHECK_FALSE(fs::exists(scenario.world.prefix()));
}

TEST_CASE("an interrupted change is undone at once", "[env][crash]") {
    Update scenario;
    for (int after = 0; after < 6; ++after) {
        scenario.reset();
        std::atomic<int> asked{0};
        TransactionOptions options;
        options.cancelled = [&] { return asked++ >= after; };
        const auto done = scenario.run(options);
        if (done) {
            CHECK(tree_of(scenario.envs()) == scenario.new_tree);
            continue;
        }
        CHECK(done.error().kind == ErrorKind::Interrupted);
        CHECK(tree_of(scenario.envs()) == scenario.old_tree);
    }
}

}  // namespace crash_test
