#include "libcore/build/rpath.hpp"

#include "libcore/process/process.hpp"
#include "tests/support/catch.hpp"

#include <cstdlib>

using gpkg::ElfFile;
using Texts = std::vector<std::string>;
namespace fs = gpkg::fs;

namespace {

Texts entries(const std::string& path,
              const Texts& own,
              const Texts& links,
              const Texts& libraries) {
    ElfFile elf;
    elf.runpath = own;
    return gpkg::relative_rpath(elf, path, links, libraries, "/p");
}

bool shell(const std::string& text) {
    gpkg::ProcessCommand command;
    command.arguments = {"sh", "-ec", text};
    const auto done = gpkg::run_and_capture(command);
    INFO(text);
    INFO((done ? done->output : done.error().message));
    CHECK((done && done->exit_code == 0));
    return done && done->exit_code == 0;
}

bool has_tools() {
    gpkg::ProcessCommand command;
    command.arguments = {"sh", "-c", "command -v cc && command -v patchelf"};
    const auto done = gpkg::run_and_capture(command);
    if (done && done->exit_code == 0) return true;
    WARN("no cc or no patchelf here: the test with real libraries is skipped");
    return false;
}

}  // namespace

TEST_CASE("library paths are relative to the file and inside the prefix", "[build]") {
    CHECK(entries("bin/python", {}, {}, {"lib/"}) == Texts{"$ORIGIN/../lib"});
    CHECK(entries("lib/liba.so", {}, {}, {"lib/"}) == Texts{"$ORIGIN"});
    CHECK(entries("lib/python3.11/site-packages/torch/lib/libtorch.so", {}, {}, {"lib/"}) ==
          Texts{"$ORIGIN/../../../.."});
    CHECK(entries("top", {}, {}, {"lib"}) == Texts{"$ORIGIN/lib"});
    CHECK(entries("lib/a.so", {}, {}, {"lib/", "lib/private"}) ==
          Texts{"$ORIGIN", "$ORIGIN/private"});

    // Its own entries stay first, as far as they lead inside.
    CHECK(entries("lib/x/a.so",
                  {"$ORIGIN/sub", "${ORIGIN}/..", "/usr/lib", "relative", "$ORIGIN/../../.."},
                  {},
                  {"lib/"}) == Texts{"$ORIGIN/sub", "$ORIGIN/.."});
    CHECK(entries("lib/a.so", {"/p/lib/x", "/p", "/pp/lib"}, {}, {}) ==
          Texts{"$ORIGIN/x", "$ORIGIN/.."});
    CHECK(entries("bin/a", {}, {}, {"$ORIGIN/../lib64"}) == Texts{"$ORIGIN/../lib64"});

    // $ORIGIN is the folder a library was opened through: lib/ has a link into lib/blas/.
    CHECK(entries("lib/blas/libblas.so.3", {}, {"lib"}, {"lib/"}) ==
          Texts{"$ORIGIN/..", "$ORIGIN"});
    // A way from a deep link's folder would lead out of the prefix from the file's own.
    CHECK(entries("lib/a.so", {}, {"lib/python/torch/lib"}, {"lib/"}) == Texts{"$ORIGIN"});
}

TEST_CASE("paths inside", "[build]") {
    CHECK(gpkg::normal_inside("a/../b//c/.") == "b/c");
    CHECK(gpkg::normal_inside("") == "");
    CHECK_FALSE(gpkg::normal_inside("a/../../b"));
    CHECK(gpkg::path_from("lib/x", "bin") == "../lib/x");
    CHECK(gpkg::path_from("lib/", "lib").empty());
    CHECK(gpkg::path_from("", "bin") == "..");
}

TEST_CASE("a program finds its library after a move", "[build]") {
    if (!has_tools()) return;
    const auto folder = gpkg::TemporaryFolder::make(fs::temp_directory_path());
    REQUIRE(folder);
    const auto root = folder->path().native();
    REQUIRE(shell("mkdir -p " + root + "/p/bin " + root + "/p/lib/deep; cd " + root +
                  "; echo 'int two(void) { return 2; }' > two.c"
                  "; echo 'int two(void); int main(void) { return two(); }' > main.c"
                  "; cc -shared -fPIC -Wl,-soname,libtwo.so.1 -o p/lib/deep/libtwo.so.1 two.c"
                  "; ln -s deep/libtwo.so.1 p/lib/libtwo.so.1"
                  "; cc -g -o p/bin/main main.c p/lib/deep/libtwo.so.1 -Wl,-rpath,/usr/lib/x"
                  " -Wl,--enable-new-dtags"
                  "; ln p/bin/main p/lib/main; echo not elf > p/bin/text"
                  "; printf '\\177ELF damaged' > p/lib/odd; printf '\\177ELF\\2\\1\\1 damaged     "
                  "' > p/lib/odd2"
                  "; cc -c -o p/lib/main.o main.c"
                  "; objcopy --only-keep-debug p/bin/main p/lib/main.debug"));

    const auto before = gpkg::read_elf(folder->path() / "p/bin/main");
    REQUIRE(before);
    REQUIRE(*before);
    CHECK((*before)->is_dynamic);
    CHECK((*before)->needed.front() == "libtwo.so.1");
    CHECK((*before)->runpath == Texts{"/usr/lib/x"});
    CHECK_FALSE((*before)->interpreter.empty());
    CHECK((*gpkg::read_elf(folder->path() / "p/lib/deep/libtwo.so.1"))->soname == "libtwo.so.1");
    CHECK_FALSE((*gpkg::read_elf(folder->path() / "p/lib/main.o"))->is_dynamic);
    CHECK_FALSE((*gpkg::read_elf(folder->path() / "p/lib/main.debug"))->is_dynamic);
    CHECK_FALSE(gpkg::read_elf(folder->path() / "p/bin/text")->has_value());
    CHECK(gpkg::read_elf(folder->path() / "p/lib/odd2").error().message ==
          root + "/p/lib/odd2: a damaged ELF file: it ends too early");

    gpkg::RelocateRequest request;
    request.prefix = folder->path() / "p";
    request.files = {"bin/main",
                     "bin/text",
                     "lib/deep/libtwo.so.1",
                     "lib/libtwo.so.1",
                     "lib/main",
                     "lib/main.debug",
                     "lib/main.o",
                     "lib/odd",
                     "lib/odd2"};
    request.library_folders = {"lib/"};
    request.jobs = 2;
    const auto warnings = gpkg::relocate(request);
    REQUIRE(warnings);
    CHECK(warnings->size() == 1);

    const auto after = gpkg::read_elf(folder->path() / "p/bin/main");
    CHECK((*after)->rpath == Texts{"$ORIGIN/../lib"});
    CHECK((*after)->runpath.empty());
    // The hard link had become a file of its own.
    CHECK((*gpkg::read_elf(folder->path() / "p/lib/main"))->rpath == Texts{"$ORIGIN"});

    const auto changed = fs::last_write_time(folder->path() / "p/bin/main");
    REQUIRE(gpkg::relocate(request));
    CHECK(fs::last_write_time(folder->path() / "p/bin/main") == changed);

    fs::rename(folder->path() / "p", folder->path() / "moved further away");
    gpkg::ProcessCommand command;
    command.arguments = {(folder->path() / "moved further away/bin/main").native()};
    CHECK(gpkg::run_command(command) == 2);
}
