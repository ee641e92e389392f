#include "libcore/build/publishing.hpp"

#include "libcore/build/builder.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/build/build_fixture.hpp"

#include <filesystem>
#include <sys/stat.h>

namespace fs = gpkg::fs;
using gpkg::BuiltPackage;
using gpkg::Published;
using gpkg::Publisher;
using gpkg::testing::BuildFixture, gpkg::testing::kHead, gpkg::testing::offering;
using gpkg::testing::zlib;
using Texts = std::vector<std::string>;

namespace publishing_test {
namespace {

dev_t device_of(const fs::path& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 ? status.st_dev : 0;
}

BuiltPackage package(const std::string& name, const Texts& built_with, bool is_published = false) {
    BuiltPackage made;
    made.distribution = name;
    made.built_with = built_with;
    made.is_published = is_published;
    return made;
}

}  // namespace

TEST_CASE("a package is in the channel once it is published, and not built again", "[build]") {
    BuildFixture place;
    const auto recipe = kHead + "build: {script: 'echo 1 > $PREFIX/x'}\n";
    const Publisher publisher(place.options.channel, place.options.work);
    auto built = place.one(recipe);
    CHECK_FALSE(built.is_published);
    CHECK_FALSE(fs::exists(place.options.channel));

    // A run that was cut off leaves it for the next.
    auto again = place.one(recipe);
    CHECK(again.reused);
    CHECK_FALSE(again.is_published);
    CHECK_FALSE(again.tested);
    REQUIRE(publisher.remember_tested(again));
    CHECK(place.one(recipe).tested);
    CHECK(again.file == built.file);

    CHECK(publisher.publish(again).value() == Published::New);
    CHECK(again.is_published);
    CHECK(again.file == place.at("channel/linux-64/a-1-hb0f4dca_0.conda"));
    CHECK_FALSE(fs::exists(built.file));
    const auto known = place.one(recipe);
    CHECK(known.reused);
    CHECK(known.is_published);
    CHECK(known.tested);
    CHECK(known.file == again.file);

    // What fails later stays where it is: readers may have it.
    CHECK(publisher.withhold(known).value() ==
          "the package was published earlier and stays in the channel: " + known.file.native());
    CHECK(fs::exists(known.file));
}

TEST_CASE("a package that replaces other contents is reported", "[build]") {
    BuildFixture place;
    const auto recipe = kHead + "build: {script: 'echo 1 > $PREFIX/x'}\n";
    const Publisher publisher(place.options.channel, place.options.work);
    place.write("channel/linux-64/a-1-hb0f4dca_0.conda", "an older one");
    auto built = place.one(recipe);
    CHECK(publisher.publish(built).value() == Published::Changed);
    CHECK(publisher.publish(built).value() == Published::Before);
}

TEST_CASE("a build for comparison has the time of the published package", "[build]") {
    BuildFixture place;
    place.options.timestamp.reset();
    const auto recipe = kHead + "build: {script: 'echo $SOURCE_DATE_EPOCH > $PREFIX/x'}\n";
    const Publisher publisher(place.options.channel, place.options.work);
    auto built = place.one(recipe);
    REQUIRE(publisher.publish(built));
    place.options.rebuild = true;
    place.options.reproduce_at = 5;
    auto again = place.one(recipe);
    CHECK_FALSE(again.is_published);
    CHECK(publisher.publish(again).value() == Published::Same);
}

TEST_CASE("what is not good is put aside and built again", "[build]") {
    BuildFixture place;
    const auto recipe = kHead + "build: {script: 'echo 1 > $PREFIX/x'}\n";
    const Publisher publisher(place.options.channel, place.options.work);
    const auto built = place.one(recipe);
    const auto failed = place.at("work/failed/linux-64/a-1-hb0f4dca_0.conda").native();
    CHECK(publisher.withhold(built).value() == "the package was not published; it is in " + failed);
    CHECK(fs::exists(failed));
    CHECK_FALSE(place.one(recipe).reused);

    place.write("channel/linux-64/a-1-hb0f4dca_0.conda", "an older one");
    CHECK(publisher.withhold(place.one(recipe)).value() ==
          "the package was not published; it is in " + failed +
              "; the channel keeps the earlier one");
    CHECK(gpkg::read_file(place.at("channel/linux-64/a-1-hb0f4dca_0.conda")).value() ==
          "an older one");
}

TEST_CASE("a channel on another file system", "[build]") {
    BuildFixture place;
    const fs::path elsewhere = "/dev/shm";
    if (device_of(elsewhere) == 0 || device_of(elsewhere) == device_of(place.folder.path())) {
        WARN("no second file system here: the test is skipped");
        return;
    }
    const auto folder = gpkg::TemporaryFolder::make(elsewhere).value();
    place.options.channel = folder.path() / "channel";
    const auto recipe = kHead + "build: {script: 'echo 1 > $PREFIX/x'}\n";
    const Publisher publisher(place.options.channel, place.options.work);
    auto built = place.one(recipe);
    const auto sum = gpkg::sha256_of_file(built.file).value();
    const auto made_at = built.file;
    REQUIRE(publisher.remember_tested(built));
    REQUIRE(publisher.publish(built));
    CHECK_FALSE(fs::exists(made_at));
    CHECK(gpkg::sha256_of_file(built.file).value() == sum);
    const auto known = place.one(recipe);
    CHECK(known.reused);
    CHECK(known.tested);
    CHECK(known.is_published);
}

TEST_CASE("heirs of what is not published", "[build]") {
    const std::vector<BuiltPackage> packages = {package("a", {"b", "x"}),
                                                package("b", {"c"}),
                                                package("c", {}),
                                                package("d", {"x"}),
                                                package("e", {"c"}, true)};
    Texts names;
    for (const auto& [heir, with] : gpkg::heirs_of(packages, {"c"}))
        names.push_back(heir->distribution + " " + with);
    CHECK(names == Texts{"b c", "a b"});
    CHECK(gpkg::heirs_of(packages, {}).empty());
    CHECK(gpkg::heirs_of(packages, {"e"}).empty());
}

TEST_CASE("what a package was built with includes what its staging output was", "[build]") {
    BuildFixture place;
    place.options.solve_environment = [](const Texts& specs) {
        auto solved = offering({zlib(), {"cc", "13", "0"}})(specs);
        // As the solver's lines are: SUBDIR/DISTRIBUTION CHECKSUM.
        for (auto& line : solved->packages)
            line = line.starts_with("zlib") ? "linux-64/zlib-1.2.13-h0_0 1" : "noarch/cc-13-0 2";
        return solved;
    };
    const std::string recipe = R"(
recipe: {version: "1"}
outputs:
  - staging: {name: base}
    requirements: {build: [cc], host: [zlib]}
    build: {script: 'echo 1 > $PREFIX/x'}
  - package: {name: a}
    inherit: base
)";
    const Texts expected = {"cc-13-0", "zlib-1.2.13-h0_0"};
    CHECK(place.one(recipe).built_with == expected);
    const auto reused = place.one(recipe);
    CHECK(reused.reused);
    CHECK(reused.built_with == expected);
}

}  // namespace publishing_test
