// The script puts every file where the layout says, and ends the build for what is in no package.

#include "libcore/redist/staging_script.hpp"

#include "libcore/fs/file.hpp"
#include "libcore/process/process.hpp"
#include "tests/support/catch.hpp"

#include <cstdlib>

namespace staging_script_test {
namespace {

using gpkg::RedistPart;
using Texts = std::vector<std::string>;

const gpkg::RedistLayout kLayout{"targets/x86_64-linux", "share/cuda-x", {}};
const std::set<RedistPart> kAll(gpkg::redist_parts().begin(), gpkg::redist_parts().end());

/// An archive, and the prefix that the script fills.
class Staging {
public:
    void add(const std::string& path) {
        REQUIRE(gpkg::write_file_atomically(archive() / path, path));
    }
    void link(const std::string& path, const std::string& to) {
        gpkg::fs::create_directories((archive() / path).parent_path());
        gpkg::fs::create_symlink(to, archive() / path);
    }
    int run(const std::set<RedistPart>& parts = kAll) {
        const auto script = folder_.path() / "script";
        REQUIRE(gpkg::write_file_atomically(script, gpkg::staging_script(kLayout, parts)));
        gpkg::fs::create_directories(archive());
        gpkg::fs::create_directories(prefix());
        gpkg::ProcessCommand command;
        command.arguments = {"bash", script};
        command.environment = {{"PATH", std::getenv("PATH")}, {"PREFIX", prefix()}};
        command.folder = archive();
        const auto output = gpkg::run_and_capture(command);
        REQUIRE(output);
        said = output->output;
        return output->exit_code;
    }
    std::string at(const std::string& place) const {
        const auto text = gpkg::read_file(prefix() / place);
        return text ? *text : "nothing";
    }
    gpkg::fs::path archive() const { return folder_.path() / "archive"; }
    gpkg::fs::path prefix() const { return folder_.path() / "prefix"; }

    std::string said;

private:
    gpkg::TemporaryFolder folder_ =
        gpkg::TemporaryFolder::make(gpkg::fs::temp_directory_path()).value();
};

}  // namespace

TEST_CASE("the script and the layout put files in the same places", "[redist]") {
    Staging staging;
    const Texts files = {"LICENSE",
                         "EULA.txt",
                         "LICENSES/MIT",
                         "README.md",
                         "include/x.h",
                         "include/a b/c*.h",
                         "lib/libx.so.1.2",
                         "lib/libx.so.a",
                         "lib/libx_static.a",
                         "lib/cmake/x/x.cmake",
                         "lib/stubs/libs.so",
                         "lib/plugins/libp.so",
                         "lib/pkgconfig/x.pc",
                         "lib64/liby.so.3",
                         "lib64/cmake/y/y.cmake",
                         "lib64/pkgconfig/y.pc",
                         "pkg-config/z.pc",
                         "bin/x",
                         "nvvm/lib64/libnvvm.so",
                         "targets/x86_64-linux/lib/libt.so.1",
                         "samples/lib/x.a",
                         "doc/include/x.h"};
    for (const auto& file : files) staging.add(file);
    staging.link("lib/libx.so", "libx.so.1.2");
    staging.link("targets/x86_64-linux/include", "../../include");
    const auto status = staging.run();
    CAPTURE(staging.said);
    REQUIRE(status == 0);
    for (const auto& file : files) {
        const auto place = kLayout.place_of(file);
        if (place.empty()) continue;
        CAPTURE(file, place);
        CHECK(staging.at(place) == file);
    }
    // Nothing stays behind but the licence, and nothing is there besides files and links to them.
    Texts left;
    for (const auto& entry : gpkg::fs::recursive_directory_iterator(staging.archive()))
        left.push_back(entry.path().filename());
    CHECK(left == Texts{"LICENSE"});
    CHECK(staging.at("lib/libx.so.1.2") == "lib/libx.so.1.2");
    CHECK(staging.at("lib/libx.so.a") == "lib/libx.so.a");
    CHECK(staging.at("lib/liby.so.3") == "lib64/liby.so.3");
    CHECK(staging.at("lib/stubs/libs.so") == "lib/stubs/libs.so");
    CHECK(gpkg::fs::read_symlink(staging.prefix() / "lib/libx.so") ==
          "../targets/x86_64-linux/lib/libx.so");
}

TEST_CASE("files that no package takes end the build by name", "[redist]") {
    Staging staging;
    staging.add("lib/libx.so.1");
    staging.add("lib/data.json");
    staging.add("odd/stray");
    CHECK(staging.run() == 1);
    CHECK_THAT(staging.said, ContainsSubstring("odd/stray: no package contains it"));
    CHECK_THAT(staging.said,
               ContainsSubstring("targets/x86_64-linux/lib/data.json: no package contains it"));
    CHECK_THAT(staging.said, !ContainsSubstring("libx.so.1: none"));
}

TEST_CASE("what the recipe has no package for is refused", "[redist]") {
    Staging staging;
    staging.add("lib/libx.so.1");
    staging.add("include/x.h");
    CHECK(staging.run({RedistPart::Runtime}) == 1);
    CHECK_THAT(staging.said,
               ContainsSubstring("targets/x86_64-linux/include/x.h: no package contains it"));
    CHECK_THAT(staging.said, !ContainsSubstring("libx.so.1"));
}

TEST_CASE("without parts nothing is taken", "[redist]") {
    Staging staging;
    staging.add("bin/x");
    CHECK(staging.run({}) == 1);
    CHECK_THAT(staging.said, ContainsSubstring("bin/x: no package contains it"));
}

TEST_CASE("no file takes another's place", "[redist]") {
    Staging staging;
    staging.add("lib/libx.so.1");
    staging.add("lib64/libx.so.1");
    CHECK(staging.run() == 1);
    CHECK_THAT(staging.said,
               ContainsSubstring("another file is already installed as "
                                 "targets/x86_64-linux/lib/libx.so.1"));
}

TEST_CASE("pkg-config files find the prefix by their own place", "[redist]") {
    Staging staging;
    REQUIRE(gpkg::write_file_atomically(staging.archive() / "pkg-config/x.pc",
                                        "cudaroot=/usr/local/cuda\nprefix=/opt\n"
                                        "libdir=${cudaroot}/lib64\nincludedir=/x\nName: x\n"));
    CHECK(staging.run() == 0);
    CHECK(staging.at("lib/pkgconfig/x.pc") ==
          "cudaroot=${pcfiledir}/../..\nprefix=${pcfiledir}/../..\n"
          "libdir=${pcfiledir}/../../targets/x86_64-linux/lib\n"
          "includedir=${pcfiledir}/../../targets/x86_64-linux/include\nName: x\n");
}

}  // namespace staging_script_test
