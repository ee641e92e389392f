#include "libcore/build/checks/binary_checks.hpp"

#include "libcore/base/prefix_path.hpp"
#include "libcore/binary/host_libraries.hpp"
#include "libcore/build/checks/binary_checks_internal.hpp"
#include "libcore/build/payload.hpp"
#include "libcore/process/process.hpp"
#include "tests/support/catch.hpp"

#include <array>
#include <fmt/format.h>

using namespace gpkg;
using Kind = BinaryFinding::Kind;
using Texts = std::vector<std::string>;

namespace binary_checks_test {
namespace {

bool shell(const fs::path& folder, const std::string& text) {
    ProcessCommand command;
    command.arguments = {"sh", "-ec", text};
    command.folder = folder;
    const auto done = run_and_capture(command);
    INFO(text);
    INFO((done ? done->output : done.error().message));
    CHECK((done && done->exit_code == 0));
    return done && done->exit_code == 0;
}

/// A prefix with a package in it, beside packages of the host environment.
struct World {
    TemporaryFolder folder = TemporaryFolder::make(fs::temp_directory_path()).value();
    fs::path prefix = folder.path() / "p";
    Texts files;
    RenderedOutput output;
    RunDependencies run;
    std::vector<EnvironmentFiles> host;
    std::vector<EnvironmentPackage> build;

    World() {
        for (const auto* inner : {"bin", "lib/stubs", "lib/plugins", "include"})
            REQUIRE(make_folders(prefix / inner));
    }
    bool sh(const std::string& text) const { return shell(prefix, text); }
    /// A shared library of the host environment, in the package of that name.
    void host_library(const std::string& package, const std::string& library) {
        compile(library, "-Wl,-soname," + std::string(file_name_of(library)));
        host.push_back({package, {}, {library}});
    }
    void compile(const std::string& library, const std::string& flags) const {
        REQUIRE(sh("echo 'int f(void) { return 1; }' > ../f.c; cc -shared -fPIC -o " + library +
                   " ../f.c " + flags));
    }
    /// A library of the package that needs others.
    void own_library(const std::string& library, const std::string& flags = "") {
        compile(library, "-Wl,--no-as-needed -Wl,--disable-new-dtags " + flags);
        files.push_back(library);
    }
    BinaryReport report() const {
        auto found = check_binaries({prefix, files, output, run, host, build});
        if (!found) FAIL(found.error().to_string());
        return *std::move(found);
    }
    /// "Overlinking libz.so.1", with "?" for what is no error.
    Texts findings() const {
        static constexpr std::array kNames{
            "Overlinking", "Overdepending", "DriverLibrary", "LibraryPath", "GpuCode"};
        Texts texts;
        for (const auto& one : report().findings)
            texts.push_back(fmt::format("{} {}{}",
                                        kNames.at(static_cast<std::size_t>(one.kind)),
                                        one.subject,
                                        one.is_error ? "" : "?"));
        return texts;
    }
    DynamicLinking& linking() { return output.build.dynamic_linking; }
};

bool has_cc() {
    ProcessCommand command;
    command.arguments = {"sh", "-c", "command -v cc"};
    const auto done = run_and_capture(command);
    if (done && done->exit_code == 0) return true;
    WARN("no cc here: tests with real libraries are skipped");
    return false;
}

}  // namespace

TEST_CASE("a needed library comes from the package, a run dependency or the machine", "[build]") {
    if (!has_cc()) return;
    World world;
    world.host_library("libzlib", "lib/libz.so.1");
    world.host.push_back({"zlib-dev", {"libzlib 1.*"}, {"include/zlib.h"}});
    world.own_library("lib/libown.so", "-Wl,-soname,libown.so");
    world.own_library("lib/liba.so", "lib/libz.so.1 lib/libown.so -lm");

    CHECK(world.findings() == Texts{"Overlinking libz.so.1"});
    const auto found = world.report().findings.front();
    CHECK(found.message ==
          "lib/liba.so: needs libz.so.1 from libzlib, but the package does not depend on libzlib");
    CHECK(found.hint == "add libzlib to requirements.run");

    world.run.depends = {"__glibc >=2.17", "libzlib >=1"};
    CHECK(world.findings().empty());
    CHECK(world.report().binaries.needs ==
          std::vector<LibraryNeed>{{"libz.so.1", {"lib/liba.so"}, "libzlib"}});
    CHECK_FALSE(world.report().binaries.glibc.empty());

    // What holds no library stands for what it depends on.
    world.run.depends = {"zlib-dev"};
    CHECK(world.findings().empty());
    // A dependency that has libraries of its own does not.
    world.host_library("libpng", "lib/libpng.so");
    world.host.back().depends = {"libzlib"};
    world.run.depends = {"libpng"};
    world.own_library("lib/libb.so", "lib/libpng.so");
    CHECK(world.findings() == Texts{"Overlinking libz.so.1"});

    world.linking().missing_dso_allowlist = {"libz.so.*"};
    CHECK(world.findings().empty());
    CHECK(world.report().binaries.needs.back().is_allowed);
    world.linking().missing_dso_allowlist.clear();
    world.linking().refuse_overlinking = false;
    CHECK(world.findings().empty());
}

TEST_CASE("what no host package gives is judged when every dependency is known", "[build]") {
    if (!has_cc()) return;
    World world;
    world.compile("../libfar.so.2", "-Wl,-soname,libfar.so.2");
    world.own_library("bin/tool.so", "../libfar.so.2");
    CHECK(world.findings() == Texts{"Overlinking libfar.so.2"});
    // This one may give it: the channel tells later.
    world.run.depends = {"far"};
    CHECK(world.findings().empty());
    REQUIRE(world.report().binaries.needs.size() == 1);
    CHECK_FALSE(world.report().binaries.needs.front().is_settled());
}

TEST_CASE("libgcc_s is a package's, as the libraries of other compilers are", "[build]") {
    if (!has_cc()) return;
    World world;
    world.compile("../libgcc_s.so.1", "-Wl,-soname,libgcc_s.so.1");
    world.own_library("lib/liba.so", "../libgcc_s.so.1");
    CHECK(world.findings() == Texts{"Overlinking libgcc_s.so.1"});
}

TEST_CASE("a library that is there is found by the loader", "[build]") {
    if (!has_cc()) return;
    World world;
    REQUIRE(make_folders(world.prefix / "lib/priv"));
    world.own_library("lib/priv/libpriv.so.1", "-Wl,-soname,libpriv.so.1");
    const auto program = [&](const std::string& entry) {
        return world.sh(
            "echo 'int f(void); int main(void) { return f(); }' > ../m.c; "
            "cc -o bin/m ../m.c lib/priv/libpriv.so.1 '-Wl,-rpath," +
            entry + "'");
    };
    REQUIRE(program("$ORIGIN/../lib"));
    world.files.emplace_back("bin/m");
    CHECK(world.findings() == Texts{"LibraryPath libpriv.so.1"});
    const auto found = world.report().findings.front();
    CHECK(found.message ==
          "bin/m: needs libpriv.so.1, but its library path does not contain lib/priv");
    CHECK(found.hint == "add it with build.dynamic_linking.rpaths: [lib/priv]");
    world.linking().missing_dso_allowlist = {"libpriv.so.1"};
    CHECK(world.findings().empty());
    world.linking().missing_dso_allowlist.clear();
    for (const auto* entry : {"$ORIGIN/../lib/priv", "$ORIGIN/../lib:$ORIGIN/../bin/../lib/priv"}) {
        REQUIRE(program(entry));
        CHECK(world.findings().empty());
    }
    // The loader follows links as they are.
    REQUIRE(world.sh("ln -s lib/priv short"));
    REQUIRE(program("$ORIGIN/../short"));
    CHECK(world.findings().empty());

    // A run dependency's is looked for as well, and a stranger's in its place does not count.
    world.files = {"bin/m"};
    world.host.push_back({"priv", {}, {"lib/priv/libpriv.so.1"}});
    world.run.depends = {"priv"};
    CHECK(world.findings().empty());
    REQUIRE(program("$ORIGIN/../lib"));
    CHECK(world.findings() == Texts{"LibraryPath libpriv.so.1"});
    REQUIRE(world.sh("cp lib/priv/libpriv.so.1 lib"));
    CHECK(world.findings() == Texts{"LibraryPath libpriv.so.1"});
    world.host.push_back({"stranger", {}, {"lib/libpriv.so.1"}});
    CHECK(world.findings() == Texts{"LibraryPath libpriv.so.1"});
}

TEST_CASE("a library may be found by what loads it", "[build]") {
    if (!has_cc()) return;
    World world;
    world.own_library("lib/plugins/libbase.so", "-Wl,-soname,libbase.so");
    world.own_library("lib/liba.so", "lib/plugins/libbase.so");
    CHECK(world.findings() == Texts{"LibraryPath libbase.so?"});
    // Opened through a link, $ORIGIN is the folder of that.
    REQUIRE(world.sh("ln -s ../liba.so lib/plugins/liba.so"));
    world.files.emplace_back("lib/plugins/liba.so");
    world.own_library("lib/liba.so", "lib/plugins/libbase.so '-Wl,-rpath,$ORIGIN'");
    CHECK(world.findings().empty());
    world.files = {"lib/plugins/libbase.so", "lib/liba.so"};
    CHECK(world.findings() == Texts{"LibraryPath libbase.so?"});
    // By the DT_RPATH of another one.
    world.own_library("lib/libb.so", "lib/plugins/libbase.so '-Wl,-rpath,$ORIGIN/plugins'");
    CHECK(world.findings().empty());
    // Every program of the environment looks into lib.
    world.files.clear();
    world.own_library("lib/libbase.so", "-Wl,-soname,libbase.so");
    world.own_library("lib/plugins/libd.so", "lib/libbase.so");
    CHECK(world.findings().empty());
}

TEST_CASE("what is needed by its path has to lie there", "[build]") {
    if (!has_cc()) return;
    World world;
    // Without a soname the linker writes the path that it was given.
    world.own_library("lib/libpath.so");
    world.own_library("lib/liba.so", world.prefix.native() + "/lib/libpath.so");
    CHECK(world.findings().empty());
    CHECK(world.report().binaries.needs.empty());
    world.files = {"lib/liba.so"};
    CHECK(world.findings().front().starts_with("Overlinking /"));
    CHECK(world.report().findings.front().message ==
          "lib/liba.so: links to $PREFIX/lib/libpath.so by path: neither the package nor a run "
          "dependency has this file");
    world.host.push_back({"path", {}, {"lib/libpath.so"}});
    world.run.depends = {"path"};
    CHECK(world.findings().empty());
    world.compile("../libfar.so", "");
    world.own_library("lib/libb.so", world.folder.path().native() + "/libfar.so");
    CHECK(world.report().findings.front().message.ends_with(
        "libfar.so by path: it is in a folder of this build"));
    world.linking().missing_dso_allowlist = {"libfar.so"};
    CHECK(world.findings().empty());
}

TEST_CASE("a program's loader is the machine's, or a package's", "[build]") {
    if (!has_cc()) return;
    World world;
    REQUIRE(world.sh("echo 'int main(void) { return 0; }' > ../m.c"));
    world.files = {"bin/m"};
    const auto with_loader = [&](const std::string& loader) {
        REQUIRE(world.sh("cc -o bin/m ../m.c -Wl,--dynamic-linker," + loader));
        Texts messages;
        for (const auto& one : world.report().findings) messages.push_back(one.message);
        return messages;
    };
    CHECK(with_loader("/lib64/ld-linux-x86-64.so.2").empty());
    const auto far = world.folder.path().native() + "/ld.so";
    CHECK(with_loader(far) ==
          Texts{"bin/m: uses the loader " + far + ": it is in a folder of this build"});
    const auto own = world.prefix.native() + "/lib/ld.so";
    CHECK(with_loader(own) == Texts{"bin/m: uses the loader $PREFIX/lib/ld.so: neither the "
                                    "package nor a run dependency has this file"});
    world.files.emplace_back("lib/ld.so");
    CHECK(with_loader(own).empty());
}

TEST_CASE("drivers are the machine's", "[build]") {
    if (!has_cc()) return;
    World world;
    world.compile("lib/stubs/libcuda.so", "-Wl,-soname,libcuda.so.1");
    world.own_library("lib/liba.so", "lib/stubs/libcuda.so");
    CHECK(world.findings().empty());
    CHECK(world.report().binaries.needs.front().is_driver);

    world.files.emplace_back("lib/stubs/libcuda.so");
    CHECK(world.findings().empty());
    REQUIRE(
        world.sh("cp lib/stubs/libcuda.so lib/libcu-copy.so; ln -s gone lib/libnvidia-ml.so.1"));
    world.files.emplace_back("lib/libcu-copy.so");
    world.files.emplace_back("lib/libnvidia-ml.so.1");
    CHECK(world.findings() ==
          Texts{"DriverLibrary libcuda.so.1", "DriverLibrary libnvidia-ml.so.1"});
    world.linking().missing_dso_allowlist = {"lib/libcu-copy.so", "libnvidia-ml.so.1"};
    CHECK(world.findings().empty());

    CHECK(is_driver_library("libamdhip64.so.6"));
    CHECK(is_driver_library("libze_loader.so.1"));
    CHECK_FALSE(is_driver_library("libcudart.so.12"));
    CHECK_FALSE(is_driver_library("libcudadevrt.a"));
    CHECK_FALSE(is_glibc_library("libcrypt.so.1"));
    CHECK(is_glibc_library("ld-linux-x86-64.so.2"));
}

TEST_CASE("library paths stay inside, and out of stubs", "[build]") {
    if (!has_cc()) return;
    struct Row {
        std::string entry, fault;
    };
    World world;
    const auto build_folder = world.folder.path().native();
    const auto inside = std::string(canonical_placeholder());
    const std::vector<Row> rows = {
        {"$ORIGIN", ""},
        {"$ORIGIN/../lib64", ""},
        {inside + "/lib", ""},
        {"$ORIGIN/stubs", "is a folder of stubs, which are for the linker only"},
        {"/usr/local/cuda/lib64/stubs", "is a folder of stubs, which are for the linker only"},
        {"$ORIGIN/../../x", "points outside the prefix"},
        {"/usr/lib", "points outside the prefix"},
        {build_folder + "/work/lib", "is a folder of this build"},
        {"lib", "is relative to the working directory"},
    };
    for (const auto& row : rows) {
        CAPTURE(row.entry);
        world.files.clear();
        world.linking().rpath_allowlist.clear();
        world.own_library("lib/liba.so", "'-Wl,-rpath," + row.entry + "'");
        const auto found = world.report().findings;
        CHECK(found.size() == (row.fault.empty() ? 0 : 1));
        if (found.empty()) continue;
        CHECK(found.front().message ==
              "lib/liba.so: library path entry '" + row.entry + "' " + row.fault);
        world.linking().rpath_allowlist = {row.entry};
        CHECK(world.report().findings.empty());
    }
    // An empty entry is the working folder.
    world.files.clear();
    world.own_library("lib/liba.so", "'-Wl,-rpath,$ORIGIN:'");
    CHECK(world.findings() == Texts{"LibraryPath "});
}

TEST_CASE("the loader never sees stubs: what they say of libraries is no fault", "[build]") {
    if (!has_cc()) return;
    World world;
    world.host_library("libzlib", "lib/libz.so.1");
    world.own_library("lib/stubs/liba.so", "lib/libz.so.1 -Wl,-rpath,\\$ORIGIN");
    CHECK(world.findings().empty());
    world.own_library("lib/liba.so", "lib/libz.so.1 -Wl,-rpath,\\$ORIGIN/stubs");
    CHECK(world.findings() == Texts{"LibraryPath $ORIGIN/stubs", "Overlinking libz.so.1"});
}

TEST_CASE("a library that nothing needs is no dependency", "[build]") {
    if (!has_cc()) return;
    World world;
    world.host_library("magma", "lib/libmagma.so");
    REQUIRE(world.sh("touch include/magma.h bin/magma-info"));
    world.host.back().files.emplace_back("include/magma.h");
    world.own_library("lib/liba.so");
    world.run.depends = {"magma >=2.7"};

    // From a run_exports.
    CHECK(world.findings() == Texts{"Overdepending magma"});
    CHECK(world.report().findings.front().message ==
          "magma: the package depends on it (from run_exports of host), but no file of the "
          "package needs or names libmagma.so");
    // From the recipe.
    world.output.requirements.run = {"magma"};
    CHECK(world.findings() == Texts{"Overdepending magma"});
    // Perhaps for its program.
    world.host.back().files.emplace_back("bin/magma-info");
    CHECK(world.findings() == Texts{"Overdepending magma?"});
    REQUIRE(world.sh("printf '#!/bin/sh\\nmagma-information\\n' > bin/run"));
    world.files.emplace_back("bin/run");
    CHECK(world.findings() == Texts{"Overdepending magma?"});
    REQUIRE(world.sh("printf '#!/bin/sh\\nexec magma-info --all\\n' > bin/run"));
    CHECK(world.findings().empty());
    world.output.requirements.run.clear();
    CHECK(world.findings() == Texts{"Overdepending magma"});

    world.linking().refuse_overdepending = false;
    CHECK(world.findings().empty());
    world.linking().refuse_overdepending = true;
    world.output.build.noarch = "generic";
    CHECK(world.findings().empty());
}

TEST_CASE("a dependency can be needed in ways that no ELF file tells", "[build]") {
    if (!has_cc()) return;
    World world;
    world.host_library("magma", "lib/libmagma.so");
    REQUIRE(world.sh("touch include/magma.h lib/plugins/of-magma"));
    world.host.back().files.insert(world.host.back().files.end(),
                                   {"include/magma.h", "lib/plugins/of-magma"});
    world.own_library("lib/liba.so");
    world.run.depends = {"magma"};
    REQUIRE(world.findings() == Texts{"Overdepending magma"});

    struct Row {
        std::string file, script;
    };
    const std::vector<Row> rows = {
        {"lib/liba.py", "echo 'ctypes.CDLL(\"libmagma.so.2\")' > lib/liba.py"},
        {"include/a.h", "printf '#pragma once\\n#  include <magma.h>\\n' > include/a.h"},
        {"lib/plugins/mine.so", "touch lib/plugins/mine.so"},
        {"lib/libb.so", "ln -s libmagma.so lib/libb.so"},
    };
    for (const auto& row : rows) {
        CAPTURE(row.file);
        REQUIRE(world.sh(row.script));
        world.files.push_back(row.file);
        CHECK(world.findings().empty());
        world.files.pop_back();
    }
    // A compiler's exports are about the language.
    world.build.push_back({"gcc", "12", "0", {}});
    world.build.back().run_exports.strong = {"magma"};
    CHECK(world.findings().empty());
    world.build.clear();
    // Without anything that links it may be for headers, or for nothing.
    world.files = {"include/a.h"};
    REQUIRE(world.sh("echo > include/a.h"));
    CHECK(world.findings() == Texts{"Overdepending magma?"});
}

TEST_CASE("GPU code is what the variant promises", "[build]") {
    constexpr auto kFamily = CudaTarget::Features::Family;
    constexpr auto kSpecific = CudaTarget::Features::Specific;
    GpuCode code;
    code.sass = {{80}, {90, kSpecific}};
    code.ptx = {{120}};
    code.gfx = {"gfx90a"};
    const auto texts = [&](const std::string& key, const std::string& list) {
        Texts found;
        for (const auto& one : gpu_code_findings({{key, list}}, code))
            found.push_back((one.is_error ? "error: " : "warning: ") + one.message);
        return found;
    };
    for (const auto* list :
         {"8.0;9.0a;12.0-virtual", "80-real,90a-real 120-virtual", "sm_80 sm_90a compute_120"})
        CHECK(texts("cuda_arch_list", list).empty());
    CHECK(texts("cuda_arch_list", "8.0;8.6;9.0a;compute_120") ==
          Texts{"error: the package lacks machine code for 8.6, but cuda_arch_list is "
                "8.0;8.6;9.0a;compute_120"});
    CHECK(texts("cuda_arch_list", "8.0;9.0a") ==
          Texts{"warning: the package contains PTX of 12.0, but cuda_arch_list is 8.0;9.0a"});
    // PTX is what later devices run: machine code alone does not keep that promise.
    CHECK(texts("cuda_arch_list", "8.0+PTX;9.0a;compute_120") ==
          Texts{"error: the package lacks PTX of 8.0, but cuda_arch_list is "
                "8.0+PTX;9.0a;compute_120"});
    CHECK(texts("cuda_arch_list", "8.0-virtual;9.0a;compute_120").front().starts_with("error: "));
    // 9.0a runs on no other device, and 9.0 has not what 9.0a promises.
    CHECK(texts("cuda_arch_list", "8.0;9.0;compute_120") ==
          Texts{"error: the package lacks machine code for 9.0, but cuda_arch_list is "
                "8.0;9.0;compute_120",
                "warning: the package contains machine code for 9.0a, but cuda_arch_list is "
                "8.0;9.0;compute_120"});
    code.sass = {{100, kFamily}};
    code.ptx.clear();
    CHECK(texts("cuda_arch_list", "10.0f").empty());
    CHECK(texts("cuda_arch_list", "10.0a").size() == 2);
    // The variant says that there is none.
    CHECK(texts("accel", "cpu") ==
          Texts{"warning: the package contains machine code for 10.0f, but accel is cpu",
                "warning: the package contains code for gfx90a, but accel is cpu"});
    CHECK(texts("accel", "rocm") ==
          Texts{"warning: the package contains machine code for 10.0f, but accel is rocm"});
    CHECK(texts("gfx_list", "gfx90a:xnack-") ==
          Texts{"error: the package lacks code for gfx90a:xnack-, but gfx_list is "
                "gfx90a:xnack-",
                "warning: the package contains code for gfx90a, but gfx_list is gfx90a:xnack-"});
    CHECK(texts("gfx_list", "gfx90a;gfx942").size() == 1);
    code.gfx = {"gfx90a:xnack+", "gfx90a:sramecc+:xnack-"};
    CHECK(texts("gfx_list", "gfx90a:xnack+;gfx90a:xnack-:sramecc+").empty());
    CHECK(texts("python", "3.11").empty());
    CHECK(gpu_code_findings({{"cuda_arch_list", "9.0"}}, {}).empty());
}

TEST_CASE("all errors are told at once", "[build]") {
    BinaryFinding first{Kind::Overlinking, true, "a", "x", "a: needs x", "write x"};
    BinaryFinding second{Kind::LibraryPath, true, "b", "y", "b: has y", "drop y"};
    BinaryFinding doubt{Kind::Overdepending, false, "", "z", "z: not needed", "drop z"};
    CHECK(refuse({doubt}));
    CHECK(refuse({first, doubt, second}).error().message ==
          "a: needs x\n  hint: write x\nb: has y\n  hint: drop y");
}

TEST_CASE("binaries.json keeps what it is given", "[build]") {
    PackageBinaries all;
    all.glibc = "2.34";
    all.gpu.sass = {{80}, {121, CudaTarget::Features::Specific}, {155}};
    all.gpu.gfx = {"gfx90a"};
    all.gpu_files["lib/a.so"] = all.gpu;
    all.needs = {{"libz.so.1", {"bin/x", "lib/a.so"}, "libzlib"}, {"libq.so", {"bin/x"}, ""}};
    all.needs.push_back({"libcuda.so.1", {"bin/x"}, "", true});
    const auto read = parse_binaries_json(binaries_json(all), "x");
    REQUIRE(read);
    CHECK(read->glibc == "2.34");
    CHECK(read->gpu.sass == all.gpu.sass);
    CHECK(read->gpu_files.at("lib/a.so").gfx == all.gpu.gfx);
    CHECK(read->needs == all.needs);
    CHECK_FALSE(parse_binaries_json("{}", "x"));
    CHECK_FALSE(parse_binaries_json("nonsense", "x"));
}

TEST_CASE("a package says which glibc its files need", "[build]") {
    World world;
    // A program's start is of glibc 2.34 where it is linked with that one or a newer one.
    REQUIRE(world.sh("echo 'int main(void) { return 0; }' > ../m.c; cc -o bin/m ../m.c"));
    world.files = {"bin/m"};
    const auto needed = world.report().binaries.glibc;
    if (newer_glibc(needed, "2.33") != needed) {
        WARN("skipped: this machine's glibc is too old to tell");
        return;
    }
    CHECK(world.report().findings.empty());

    world.run.depends = {"__glibc >=2.17,<3.0.a0"};
    const auto findings = world.report().findings;
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].kind == Kind::Glibc);
    CHECK(findings[0].is_error);
    CHECK(findings[0].message == "bin/m: needs glibc " + needed +
                                     ", but the package allows 2.17 "
                                     "(__glibc >=2.17,<3.0.a0)");
    CHECK(findings[0].hint.starts_with(
        "build with a sysroot of glibc 2.17, or depend on __glibc >=" + needed));
    world.output.build.dynamic_linking.missing_dso_allowlist = {"bin/m"};
    CHECK(world.report().findings.empty());
    world.output.build.dynamic_linking.missing_dso_allowlist = {};
    world.run.depends = {"__glibc >=" + needed};
    CHECK(world.report().findings.empty());

    Texts depends{"a"};
    add_glibc_floor(depends, "2.17");
    add_glibc_floor(depends, "");
    CHECK(depends == Texts{"a"});
    add_glibc_floor(depends, "2.34");
    CHECK(depends == Texts{"a", "__glibc >=2.34"});
    add_glibc_floor(depends, "2.36");
    CHECK(depends == Texts{"a", "__glibc >=2.34"});
}

}  // namespace binary_checks_test
