#include "libcore/env/generation.hpp"

#include "tests/support/catch.hpp"
#include "tests/unit/env/sample.hpp"

using namespace gpkg;
using namespace gpkg::samples;

namespace generation_test {
namespace {

using Numbers = std::vector<std::uint64_t>;

std::vector<std::string> names(const Generation& generation) {
    std::vector<std::string> names;
    for (const auto& package : generation.packages) names.push_back(package.record.distribution());
    return names;
}

Result<TransactionReport> change(World& world,
                                 const std::vector<std::string>& unlink,
                                 const std::vector<Package>& link,
                                 HistoryEntry history) {
    Transaction transaction;
    transaction.prefix = world.prefix();
    for (const auto& name : unlink) transaction.unlink.push_back(world.installed(name));
    for (const auto& package : link) transaction.link.push_back(world.request(package));
    transaction.history = std::move(history);
    return execute(transaction, {});
}

HistoryEntry asks(std::string command, std::vector<std::string> specs) {
    HistoryEntry entry;
    entry.command = std::move(command);
    entry.update_specs = std::move(specs);
    return entry;
}

}  // namespace

TEST_CASE("a generation is read back as written", "[env]") {
    Generation generation;
    generation.number = 7;
    generation.time = "2026-11-23 10:00:00";
    generation.command = "gpkg install 'a>=1'";
    PackageRecord record;
    record.name = "a";
    record.version = "1.0";
    record.build = "h0_1";
    record.build_number = 1;
    record.subdir = "linux-64";
    record.channel = "https://example.org/main";
    record.fn = "a-1.0-h0_1.conda";
    record.url = "https://example.org/main/linux-64/a-1.0-h0_1.conda";
    record.sha256 = std::string(64, 'a');
    record.size = 12;
    record.timestamp = 1700000000000;
    record.depends = {"b >=1", "__cuda >=12"};
    record.constrains = {"c <2"};
    record.extra_depends = {{"gpu", {"d"}}};
    record.flags = {"gpu:cuda"};
    record.track_features = {"x", "y"};
    record.python_site_packages_path = "lib/python3.13t/site-packages";
    generation.packages = {{record, {"a>=1"}}};
    generation.requested = {"a>=1"};
    generation.state.accelerator = "nvidia";
    generation.state.package_accelerators = {{"a", "none"}};
    const auto read = Generation::parse(generation.to_json(), "x");
    REQUIRE(read);
    CHECK(*read == generation);
}

TEST_CASE("what is no generation is refused", "[env]") {
    const auto message = [](const char* text) {
        return Generation::parse(text, "g.json").error().message;
    };
    CHECK(message("{}") == "g.json: this version of gpkg cannot read the generation");
    CHECK(message(R"({"format":2,"packages":[]})") ==
          "g.json: this version of gpkg cannot read the generation");
    CHECK(message(R"({"format":1})") == "g.json: the generation has no packages");
    CHECK(message(R"({"format":1,"packages":[{"name":"a"}]})") ==
          "g.json: a package without name, version or build");
    CHECK(Generation::parse("[", "g.json").error().kind == ErrorKind::Parse);
}

TEST_CASE("each transaction leaves a generation", "[env]") {
    World world;
    CHECK(generation_numbers(world.prefix()).value().empty());
    const Package a{.name = "a", .files = {{.path = "a", .content = "1"}}};
    const Package newer{.name = "a", .version = "2.0", .files = {{.path = "a", .content = "2"}}};
    const Package b{.name = "b", .files = {{.path = "b", .content = "b"}}};
    REQUIRE(change(world, {}, {a}, asks("one", {"a"})));
    REQUIRE(change(world, {}, {b}, asks("two", {"b"})));
    REQUIRE(change(world, {"a"}, {newer}, asks("three", {"a>=2"})));

    CHECK(generation_numbers(world.prefix()).value() == Numbers{1, 2, 3});
    const auto first = read_generation(world.prefix(), 1).value();
    CHECK(first.command == "one");
    CHECK(names(first) == std::vector<std::string>{"a-1.0-0"});
    CHECK(first.packages[0].record == a.record());
    CHECK(first.requested == std::vector<std::string>{"a"});
    const auto third = read_generation(world.prefix(), 3).value();
    CHECK(names(third) == std::vector<std::string>{"a-2.0-0", "b-1.0-0"});
    CHECK(third.requested == std::vector<std::string>{"a>=2", "b"});
    CHECK(read_generation(world.prefix(), 4).error().kind == ErrorKind::NotFound);
}

TEST_CASE("a change of requests alone joins the last generation and the last block", "[env]") {
    World world;
    const Package a{.name = "a", .files = {{.path = "a", .content = "1"}}};
    const auto last = [&] { return read_generation(world.prefix(), 1).value(); };
    const auto history = [&] { return Prefix::open(world.prefix())->history().value(); };
    REQUIRE(change(world, {}, {a}, asks("one", {"a=1"})));
    REQUIRE(change(world, {}, {}, asks("two", {"a"})));
    CHECK(generation_numbers(world.prefix()).value() == Numbers{1});
    CHECK(last().command == "one");
    CHECK(last().requested == std::vector<std::string>{"a"});
    REQUIRE(history().size() == 1);
    CHECK(history()[0].added.size() == 1);
    CHECK(requested_specs(history()) == std::vector<std::string>{"a"});
    // A package that is linked anew has not changed either.
    REQUIRE(change(world, {"a"}, {a}, asks("three", {"a"})));
    CHECK(generation_numbers(world.prefix()).value() == Numbers{1});
    CHECK(history().size() == 1);
    // Requests that end leave no line that conda reads.
    HistoryEntry ends;
    ends.remove_specs = {"a"};
    REQUIRE(change(world, {}, {}, std::move(ends)));
    CHECK(requested_specs(history()).empty());
    CHECK(last().requested.empty());
    CHECK(read_file(world.prefix() / "conda-meta/history")->find("update specs") ==
          std::string::npos);
    // An empty block of another hand is mended by the next change.
    const auto file = world.prefix() / "conda-meta/history";
    REQUIRE(write_file_atomically(file, *read_file(file) + "==> 2026-01-01 00:00:00 <==\n"));
    const Package b{.name = "b", .files = {{.path = "b", .content = "b"}}};
    REQUIRE(change(world, {}, {b}, asks("four", {"b"})));
    REQUIRE(history().size() == 3);
    CHECK(history()[2].added.size() == 2);
}

TEST_CASE("what other tools made of an environment is a generation as well", "[env]") {
    World world;
    const Package a{.name = "a", .files = {{.path = "a", .content = "1"}}};
    const Package b{.name = "b", .files = {{.path = "b", .content = "b"}}};
    REQUIRE(change(world, {}, {a}, asks("one", {"a"})));
    fs::remove_all(world.prefix() / "conda-meta/gpkg");
    REQUIRE(change(world, {}, {b}, asks("two", {"b"})));
    CHECK(generation_numbers(world.prefix()).value() == Numbers{1, 2});
    auto found = read_generation(world.prefix(), 1).value();
    CHECK(found.command.empty());
    CHECK(names(found) == std::vector<std::string>{"a-1.0-0"});
    CHECK(found.requested == std::vector<std::string>{"a"});
    CHECK(read_generation(world.prefix(), 2).value().command == "two");

    // Another tool takes b away.
    fs::remove(world.prefix() / "conda-meta/b-1.0-0.json");
    const Package c{.name = "c", .files = {{.path = "c", .content = "c"}}};
    REQUIRE(change(world, {}, {c}, asks("three", {"c"})));
    CHECK(generation_numbers(world.prefix()).value() == Numbers{1, 2, 3, 4});
    found = read_generation(world.prefix(), 3).value();
    CHECK(found.command.empty());
    CHECK(names(found) == std::vector<std::string>{"a-1.0-0"});
    CHECK(names(read_generation(world.prefix(), 4).value()) ==
          std::vector<std::string>{"a-1.0-0", "c-1.0-0"});

    // One that is damaged costs nobody anything.
    REQUIRE(write_file_atomically(world.prefix() / "conda-meta" / generation_file(4), "x"));
    CHECK(read_generation(world.prefix(), 4).error().message.find("4.json.zst") !=
          std::string::npos);
    REQUIRE(change(world, {"c"}, {}, asks("four", {})));
    CHECK(generation_numbers(world.prefix()).value() == Numbers{1, 2, 3, 4, 5, 6});
}

}  // namespace generation_test
