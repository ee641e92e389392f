#include "libcore/binary/rpath.hpp"

#include "libcore/base/prefix_path.hpp"
#include "libcore/process/process.hpp"
#include "tests/support/catch.hpp"

#include <cstdlib>

using gpkg::ElfFile;
using Texts = std::vector<std::string>;
namespace fs = gpkg::fs;

namespace rpath_test {
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
          root + "/p/lib/odd2: damaged ELF file: the file is truncated");

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
    // Files by their paths in the package. The hard link is a file too.
    const auto left_out = [](const std::string& file, const std::string& entry) {
        return file + ": removed " + entry +
               " from the library path, it is outside the prefix (keep it with "
               "dynamic_linking.rpath_allowlist)";
    };
    CHECK(*warnings == Texts{left_out("bin/main", "/usr/lib/x"),
                             left_out("lib/main", "/usr/lib/x"),
                             "lib/odd2: damaged ELF file: the file is truncated"});

    const auto after = gpkg::read_elf(folder->path() / "p/bin/main");
    CHECK((*after)->rpath == Texts{"$ORIGIN/../lib"});
    CHECK((*after)->runpath.empty());
    // The hard link had become a file of its own.
    CHECK((*gpkg::read_elf(folder->path() / "p/lib/main"))->rpath == Texts{"$ORIGIN"});

    const auto changed = fs::last_write_time(folder->path() / "p/bin/main");
    // What is gone is not told again.
    CHECK(gpkg::relocate(request).value().size() == 1);
    CHECK(fs::last_write_time(folder->path() / "p/bin/main") == changed);

    fs::rename(folder->path() / "p", folder->path() / "moved further away");
    gpkg::ProcessCommand command;
    command.arguments = {(folder->path() / "moved further away/bin/main").native()};
    CHECK(gpkg::run_command(command) == 2);
}

TEST_CASE("a library is found by way of a link, and before the host's", "[build]") {
    if (!has_tools()) return;
    const auto folder = gpkg::TemporaryFolder::make(fs::temp_directory_path());
    REQUIRE(folder);
    const auto root = folder->path().native();
    // a() of liba needs b() of libb beside it; the host has another libb. lib/liba.so is a link.
    REQUIRE(shell("cd " + root +
                  "; mkdir -p p/bin p/lib/deep host"
                  "; echo 'int b(void) { return 2; }' > b.c; echo 'int b(void) { return 3; }' > h.c"
                  "; echo 'int b(void); int a(void) { return b(); }' > a.c"
                  "; printf '#include <dlfcn.h>\\nint main(int n, char** v) { void* h = "
                  "dlopen(v[n - 1], RTLD_NOW); return h ? ((int (*)(void))dlsym(h, \"a\"))() : 9; "
                  "}\\n' > main.c"
                  "; cc -shared -fPIC -Wl,-soname,libb.so -o p/lib/deep/libb.so b.c"
                  "; cc -shared -fPIC -Wl,-soname,libb.so -o host/libb.so h.c"
                  "; cc -shared -fPIC -Wl,--enable-new-dtags '-Wl,-rpath,$ORIGIN'"
                  " -o p/lib/deep/liba.so a.c p/lib/deep/libb.so"
                  "; cc -o p/bin/main main.c -ldl; ln -s deep/liba.so p/lib/liba.so"));
    const auto says = [&](const std::string& library, const std::string& library_path) {
        gpkg::ProcessCommand command;
        command.arguments = {root + "/p/bin/main", root + "/p/lib/" + library};
        command.environment["LD_LIBRARY_PATH"] = library_path;
        return gpkg::run_command(command).value();
    };
    // What the loader does with a RUNPATH: $ORIGIN is the folder of the link, which is not
    // followed, and LD_LIBRARY_PATH goes before.
    CHECK(says("deep/liba.so", "") == 2);
    CHECK(says("liba.so", "") == 9);
    CHECK(says("deep/liba.so", root + "/host") == 3);

    gpkg::RelocateRequest request;
    request.prefix = folder->path() / "p";
    request.files = {"bin/main", "lib/deep/liba.so", "lib/deep/libb.so", "lib/liba.so"};
    request.library_folders = {"lib/deep/"};
    REQUIRE(gpkg::relocate(request));
    const auto elf = gpkg::read_elf(folder->path() / "p/lib/deep/liba.so");
    CHECK((*elf)->rpath == Texts{"$ORIGIN", "$ORIGIN/deep"});
    for (const auto* library : {"deep/liba.so", "liba.so"}) {
        CHECK(says(library, "") == 2);
        CHECK(says(library, root + "/host") == 2);
    }
}

TEST_CASE("stripped and static programs still run, and entries elsewhere are kept", "[build]") {
    if (!has_tools()) return;
    const auto folder = gpkg::TemporaryFolder::make(fs::temp_directory_path());
    REQUIRE(folder);
    const auto root = folder->path().native();
    REQUIRE(shell("cd " + root +
                  "; mkdir p; echo 'int main(void) { return 5; }' > main.c"
                  "; cc -o p/stripped main.c -Wl,-rpath,/usr/x:/opt/driver/lib; strip p/stripped"
                  "; cc -no-pie -static -o p/static main.c; cc -static-pie -o p/pie main.c"));
    gpkg::RelocateRequest request;
    request.prefix = folder->path() / "p";
    request.files = {"pie", "static", "stripped"};
    request.library_folders = {"lib/"};
    request.kept_entries = {"/opt/driver/*"};
    const auto warnings = gpkg::relocate(request);
    REQUIRE(warnings);
    REQUIRE(warnings->size() == 1);
    CHECK_THAT(warnings->front(),
               ContainsSubstring("stripped: removed /usr/x from the library path"));
    const auto elf = [&](const std::string& name) {
        return gpkg::read_elf(request.prefix / name).value().value();
    };
    CHECK(elf("stripped").is_stripped);
    CHECK(elf("stripped").rpath == Texts{"$ORIGIN/lib", "/opt/driver/lib"});
    CHECK(elf("stripped").glibc.starts_with("2."));
    CHECK(elf("pie").is_static_pie);
    CHECK_FALSE(elf("pie").is_stripped);
    CHECK(elf("pie").rpath.empty());
    CHECK_FALSE(elf("static").is_dynamic);
    for (const auto* name : {"pie", "static", "stripped"}) {
        gpkg::ProcessCommand command;
        command.arguments = {root + "/p/" + name};
        CHECK(gpkg::run_command(command) == 5);
    }
    CHECK(gpkg::newer_glibc("2.9", "2.34") == "2.34");
    CHECK(gpkg::newer_glibc("", "2.4") == "2.4");
}

}  // namespace rpath_test
