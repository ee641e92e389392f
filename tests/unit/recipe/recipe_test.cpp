#include "libcore/recipe/render.hpp"
#include "libcore/recipe/selector_comments.hpp"
#include "libcore/spec/match_spec.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <fmt/format.h>

using gpkg::RenderedOutput;
using gpkg::RenderOptions;
using gpkg::Result;

namespace recipe_test {
namespace {

Result<std::vector<RenderedOutput>> render(const std::string& text,
                                           const RenderOptions& options = {}) {
    const auto recipe = gpkg::parse_recipe(text, "/r/recipe.yaml");
    if (!recipe) return gpkg::pass(recipe.error());
    return gpkg::render_recipe(*recipe, options);
}

RenderedOutput one(const std::string& text, const RenderOptions& options = {}) {
    const auto outputs = render(text, options);
    if (!outputs) FAIL(outputs.error().to_string());
    REQUIRE(outputs->size() == 1);
    return outputs->front();
}

std::string error_of(const std::string& text, const RenderOptions& options = {}) {
    const auto outputs = render(text, options);
    return outputs ? "no error" : outputs.error().to_string();
}

using Texts = std::vector<std::string>;
const std::string kHead = "package: {name: a, version: '1'}\n";

}  // namespace

TEST_CASE("selectors of conda-build in comments", "[build]") {
    const auto recipe = gpkg::parse_recipe(kHead + R"(build:
  skip: true  # [win]
  number: 0  # [not osx and py<38]
  script:
    - make  # [ linux ]
    - "[ -e x ]"  # [see below]
    # - make check  # [win]
    - echo "# [win]"
)",
                                           "/r/recipe.yaml");
    REQUIRE(recipe);
    const auto comments = gpkg::selector_comments(*recipe);
    Texts found;
    found.reserve(comments.size());
    for (const auto& comment : comments)
        found.push_back(
            fmt::format("{} {}: {}", comment.line, comment.selector, comment.replacement));
    CHECK(found == Texts{"3 win: skip: win",
                         "4 not osx and py<38: ${{ VALUE if not osx and py<38 else OTHER }}",
                         "6 linux: a list item with 'if: linux' and 'then: make'"});
}

TEST_CASE("templates of conda-build are named", "[build]") {
    CHECK_THAT(error_of("{% set version = '1' %}\n" + kHead),
               ContainsSubstring("write values below context:"));
    CHECK_THAT(error_of("package: {name: a, version: {{ version }}}\n"),
               ContainsSubstring("write ${{ name }} in place of {{ name }}"));
}

TEST_CASE("a whole recipe", "[build]") {
    const auto output = one(R"(
schema_version: 1
context:
  name: zlib
  version: "1.2.13"
  number: 3
package:
  name: ${{ name }}
  version: ${{ version }}
build:
  number: ${{ number }}
  script:
    - cp -a root/. $PREFIX
  dynamic_linking:
    rpaths: [lib/, lib/private]
    missing_dso_allowlist: [libx.so.*]
    rpath_allowlist: [/opt/driver/*]
    overlinking_behavior: error
    overdepending_behavior: ignore
requirements:
  run:
    - __glibc >=2.36
    - if: linux
      then:
        - libgcc-s1 >=12
        - libc
      else: other
    - ${{ "never" if win }}
  run_constraints: [zlib-dev ==1.2.13]
  run_exports: [zlib >=1.2]
tests:
  - script: [test -e $PREFIX/lib/libz.so.1]
  - python: {imports: [zlib], pip_check: false}
about:
  summary: compression of ${{ name }}
  license: Zlib
  homepage: https://zlib.example
extra:
  source-package: zlib
  numbers: [1, 2]
)");
    CHECK(output.name == "zlib");
    CHECK(output.version == "1.2.13");
    CHECK(output.subdir == "linux-64");
    CHECK(output.build.number == 3);
    CHECK(output.build.script.content == "cp -a root/. $PREFIX\n");
    CHECK(output.build.dynamic_linking.rpaths == Texts{"lib/", "lib/private"});
    CHECK(output.build.dynamic_linking.missing_dso_allowlist == Texts{"libx.so.*"});
    CHECK(output.build.dynamic_linking.rpath_allowlist == Texts{"/opt/driver/*"});
    CHECK(output.build.dynamic_linking.refuse_overlinking);
    CHECK_FALSE(output.build.dynamic_linking.refuse_overdepending);
    CHECK(output.requirements.run == Texts{"__glibc >=2.36", "libgcc-s1 >=12", "libc"});
    CHECK(output.requirements.run_constraints == Texts{"zlib-dev ==1.2.13"});
    CHECK(output.requirements.run_exports.weak == Texts{"zlib >=1.2"});
    CHECK(output.tests.size() == 2);
    CHECK(output.about.summary == "compression of zlib");
    CHECK(output.extra_json == R"({"numbers":[1,2],"source-package":"zlib"})");
    CHECK(output.used_variant ==
          gpkg::Variant{{"__glibc", "__glibc >=2.36"}, {"target_platform", "linux-64"}});
    CHECK(output.distribution() ==
          "zlib-1.2.13-h" + gpkg::variant_hash(output.used_variant) + "_3");
}

TEST_CASE("selectors", "[build]") {
    const std::string text = kHead +
                             "requirements:\n  run: [x, {if: win, then: [a, b]}, y, "
                             "{if: linux and x86_64, then: {if: unix, then: z}}]\n";
    CHECK(one(text).requirements.run == Texts{"x", "y", "z"});
    RenderOptions windows;
    windows.target_platform = "win-64";
    CHECK(one(text, windows).requirements.run == Texts{"x", "a", "b", "y"});
    CHECK(one(kHead + "requirements:\n  run:\n    if: target_platform == 'linux-64'\n"
                      "    then: a\n")
              .requirements.run == Texts{"a"});
}

TEST_CASE("context values may come in any order", "[build]") {
    CHECK(one("context: {b: \"${{ a }}-x\", a: \"1\", names: [p, q]}\n"
              "package: {name: n, version: '1'}\n"
              "about: {summary: \"${{ b }} ${{ names[1] }}\"}\n")
              .about.summary == "1-x q");
}

TEST_CASE("the keys that a recipe reads make its hash", "[build]") {
    RenderOptions options;
    options.variants = gpkg::VariantConfig::of(
        {{"python", "3.11"}, {"numpy", "1.26"}, {"openssl", "3"}, {"zlib", "1.2"}});
    const std::string text =
        "context: {touched: \"${{ openssl }}\"}\n" + kHead +
        "requirements:\n  host: [python, numpy >=1.2]\n  run: [\"${{ 'x' if zlib == '1.2' }}\"]\n";
    CHECK(one(text, options).used_variant == gpkg::Variant{{"openssl", "3"},
                                                           {"python", "3.11"},
                                                           {"target_platform", "linux-64"},
                                                           {"zlib", "1.2"}});
    CHECK(one(text, options).build_string.starts_with("py311h"));

    const auto noarch =
        one(kHead + "build: {noarch: python}\nrequirements: {host: [python]}\n", options);
    CHECK(noarch.subdir == "noarch");
    CHECK(noarch.build_string == "pyh4616a5c_0");

    const auto keyed = one(kHead +
                               "build:\n  variant: {use_keys: [openssl], ignore_keys: [python]}\n"
                               "requirements: {host: [python]}\n",
                           options);
    CHECK(keyed.used_variant == gpkg::Variant{{"openssl", "3"}, {"target_platform", "linux-64"}});
}

TEST_CASE("build strings may name the hash", "[build]") {
    CHECK(one(kHead + "build: {number: 2, string: \"cpu_h${{ hash }}_2\"}\n").build_string ==
          "cpu_hb0f4dca_2");
    CHECK(error_of(kHead + "build: {script: \"${{ hash }}\"}\n") ==
          "/r/recipe.yaml:2:17: in '${{ hash }}': 'hash' is not defined");
    CHECK(error_of(kHead + "build: {string: a-b}\n") ==
          "/r/recipe.yaml:2:17: invalid build string 'a-b'\n"
          "  hint: use at most 64 letters, digits, _ . and +");
}

TEST_CASE("compilers come from the variant", "[build]") {
    const auto text = kHead + "requirements: {build: [\"${{ compiler('c') }}\"]}\n";
    CHECK(one(text).requirements.build == Texts{"gcc_linux-64"});
    RenderOptions options;
    options.variants =
        gpkg::VariantConfig::of({{"c_compiler", "clang"}, {"c_compiler_version", "14"}});
    const auto output = one(text, options);
    CHECK(output.requirements.build == Texts{"clang_linux-64 14.*"});
    CHECK(output.used_variant == gpkg::Variant{{"c_compiler", "clang"},
                                               {"c_compiler_version", "14"},
                                               {"target_platform", "linux-64"}});
}

TEST_CASE("scripts may name their variables as templates", "[build]") {
    const auto output =
        one(kHead +
            "build: {script: [\"${{ PYTHON }} -m pip install --prefix ${{ PREFIX }}\"]}\n"
            "tests:\n- script: [\"${{ PYTHON }} -c 'import a'\"]\n");
    CHECK(output.build.script.content == "${PYTHON} -m pip install --prefix ${PREFIX}\n");
    CHECK(output.tests.front().commands == Texts{"${PYTHON} -c 'import a'"});
    CHECK(error_of(kHead + "about: {summary: \"${{ PYTHON }}\"}\n") ==
          "/r/recipe.yaml:2:18: in '${{ PYTHON }}': 'PYTHON' is not defined");
}

TEST_CASE("tests of contents have sections", "[build]") {
    const auto test = one(kHead +
                          "tests:\n- package_contents:\n    bin: [a]\n    lib: [b, libc.so.1]\n"
                          "    include: [d.h]\n    site_packages: [e.f]\n"
                          "    files: {exists: [share/g], not_exists: [lib/*.a]}\n")
                          .tests.front();
    CHECK(test.bin == Texts{"a"});
    CHECK(test.lib == Texts{"b", "libc.so.1"});
    CHECK(test.include == Texts{"d.h"});
    CHECK(test.site_packages == Texts{"e.f"});
    CHECK(test.files == Texts{"share/g"});
    CHECK(test.absent_files == Texts{"lib/*.a"});
}

TEST_CASE("a package for any python of one platform", "[build]") {
    RenderOptions options;
    options.variants = gpkg::VariantConfig::of({{"python", "3.10.* *_cpython"}});
    const auto output = one(kHead +
                                "build: {python: {version_independent: true}}\n"
                                "requirements: {host: [python, python-abi3]}\n",
                            options);
    // As conda-forge's polars-runtime: the python that it was built with counts.
    CHECK(output.subdir == "linux-64");
    CHECK(output.build_string.starts_with("py310h"));
    CHECK(output.build.is_linked_as_noarch_python());
    CHECK(error_of(kHead + "build: {noarch: python, python: {version_independent: true}}\n")
              .find("python.version_independent cannot be used with noarch") != std::string::npos);
}

TEST_CASE("a test's script may be a map", "[build]") {
    const auto tests = one(kHead +
                           "tests:\n"
                           "- script: {interpreter: python, content: [import a, \"print('b')\"]}\n"
                           "- script: {content: [true, false]}\n"
                           "  requirements: {run: [c], build: [d]}\n")
                           .tests;
    CHECK(tests[0].commands ==
          Texts{"python - <<'END_OF_TEST'\nimport a\nprint('b')\nEND_OF_TEST"});
    CHECK(tests[1].commands == Texts{"true\nfalse"});
    CHECK(tests[1].requirements == Texts{"c", "d"});
}

TEST_CASE("match compares versions", "[build]") {
    RenderOptions options;
    options.variants = gpkg::VariantConfig::of({{"python", "3.11.* *_cpython"}});
    CHECK(one(kHead + "requirements:\n  run:\n    - {if: \"match(python, '>=3.10')\", then: a}\n"
                      "    - {if: \"match(python, '<3.9')\", then: b}\n",
              options)
              .requirements.run == Texts{"a"});
}

TEST_CASE("several outputs", "[build]") {
    const auto outputs = render(R"(
context: {version: "1.2.3"}
recipe: {name: x, version: "${{ version }}"}
build: {number: 4}
about: {license: MIT, summary: all}
outputs:
  - package: {name: x-dev}
    build: {script: make dev}
    requirements:
      host: ["${{ pin_subpackage('libx', exact=True) }}"]
      run: ["${{ pin_subpackage('libx', upper_bound='x.x') }}"]
    about: {summary: headers}
  - package: {name: libx}
    build: {script: make lib}
  - package: {name: x-doc, version: "2"}
    build: {skip: [linux]}
)");
    REQUIRE(outputs);
    REQUIRE(outputs->size() == 2);
    const auto& lib = outputs->at(0);
    const auto& dev = outputs->at(1);
    CHECK(lib.name == "libx");
    CHECK(lib.build.number == 4);
    CHECK(lib.build.script.content == "make lib\n");
    CHECK(lib.about.summary == "all");
    CHECK(dev.about.summary == "headers");
    CHECK(dev.about.license == "MIT");
    CHECK(dev.requirements.run == Texts{"libx >=1.2.3,<1.3.0a0"});
    CHECK(dev.requirements.host == Texts{"libx ==1.2.3 " + lib.build_string});
    CHECK(dev.used_variant.at("libx") == "1.2.3 " + lib.build_string);
}

TEST_CASE("the variant says what hardware an output is for", "[build]") {
    const auto made_of = [](const gpkg::Variant& variant, const std::string& more = "") {
        RenderOptions options;
        for (const auto& [key, value] : variant) options.variants.values[key] = {value};
        std::string keys;
        for (const auto& [key, value] : variant) keys += key + ", ";
        return render(kHead + "build: {variant: {use_keys: [" + keys + "]}}\n" + more, options);
    };
    struct Row {
        gpkg::Variant variant;
        Texts flags, run;
    };
    const std::vector<Row> rows = {
        {{{"accel", "cpu"}, {"cuda_version", "12.9"}, {"blas", "mkl"}, {"mpi", "nompi"}},
         {"cpu", "blas:mkl", "mpi:nompi"},
         {}},
        {{{"accel", "cuda"}}, {"cuda"}, {"__cuda"}},
        {{{"accel", "amd"}}, {"rocm"}, {"__amdgpu"}},
        {{{"accel", "none"}}, {"cpu"}, {}},
        {{{"accel", "cuda"}, {"cuda_version", "13.0"}, {"cuda_arch_list", "10.0f+PTX;12.0f"}},
         {"cuda", "cuda:13_0", "sm:100f", "ptx:100f", "sm:120f"},
         {"__cuda >=13", "__cuda_arch >=10.0,<11|>=12.0,<13"}},
        {{{"accel", "cuda"}, {"cuda_version", "12.9"}, {"cuda_arch_list", "8.0;9.0a;12.0+PTX"}},
         {"cuda", "cuda:12_9", "sm:80", "sm:90a", "sm:120", "ptx:120"},
         {"__cuda >=12", "__cuda_arch >=8.0,<9|==9.0|>=12.0"}},
        {{{"accel", "rocm"}, {"rocm_version", "6.4"}, {"gfx_list", "gfx90a:xnack-;gfx1100"}},
         {"rocm", "rocm:6_4", "gfx:90a", "gfx:1100"},
         {"__amdgpu", "__amdgpu_arch ==9.0.10|==11.0.0"}},
        {{{"accel", "rocm"}, {"gfx_list", "gfx90a;gfx11-generic"}},
         {"rocm", "gfx:90a", "gfx:11_generic"},
         {"__amdgpu"}},
        {{{"accel", "cpu"}, {"psabi", "x86_64_v1"}}, {"cpu", "psabi:x86_64_v1"}, {}},
        // Without `accel` they are keys like any other.
        {{{"cuda_version", "12.9"}, {"mpi", "nompi"}}, {}, {}},
    };
    for (const auto& row : rows) {
        CAPTURE(gpkg::hash_input_text(row.variant));
        const auto outputs = made_of(row.variant);
        if (!outputs) FAIL(outputs.error().to_string());
        CHECK(outputs->front().build.flags == row.flags);
        CHECK(outputs->front().requirements.run == row.run);
        // As every dependency on a virtual package, they count for the hash.
        CHECK(outputs->front().used_variant.contains("__cuda") ==
              (row.variant.contains("accel") && row.variant.at("accel").text == "cuda"));
    }

    const auto v4 = made_of({{"accel", "cpu"}, {"psabi", "x86_64_v4"}});
    REQUIRE(v4);
    const auto depend = v4->front().requirements.run.at(0);
    const auto spec = gpkg::MatchSpec::parse(depend);
    REQUIRE(spec);
    CHECK(spec->build->matches("zen5"));
    CHECK(spec->build->matches("x86_64_v4"));
    CHECK_FALSE(spec->build->matches("x86_64_v3"));

    // What the recipe says itself stands.
    const auto own = made_of({{"accel", "cuda"}}, "requirements: {run: [__cuda >=12.4]}\n");
    CHECK(own->front().requirements.run == Texts{"__cuda >=12.4"});

    // Values that are well by themselves and do not go together: 12.0 came with CUDA 12.8, 7.0 went
    // with 13.0 (release notes), and armv8.2a is no code of x86-64.
    const auto told = [&](const gpkg::Variant& variant) {
        const auto outputs = made_of(variant);
        REQUIRE_FALSE(outputs);
        return outputs.error().message + " | " + outputs.error().hint;
    };
    CHECK_THAT(
        told({{"accel", "cuda"}, {"cuda_version", "11.8"}, {"cuda_arch_list", "8.0;12.0"}}),
        ContainsSubstring("cuda_arch_list has 12.0, but CUDA 11.8 (cuda_version) cannot compile "
                          "for it | remove 12.0 from cuda_arch_list, or build with CUDA 12.9 or "
                          "13.0"));
    CHECK_THAT(told({{"accel", "cuda"}, {"cuda_version", "13.0"}, {"cuda_arch_list", "7.0"}}),
               ContainsSubstring("but CUDA 13.0 (cuda_version) cannot compile for it"));
    CHECK_THAT(told({{"accel", "rocm"}, {"gfx_list", "gfx90a;gfx999"}}),
               ContainsSubstring("gfx999: unknown target"));
    CHECK_THAT(told({{"accel", "cpu"}, {"psabi", "armv8.2a"}}),
               ContainsSubstring("psabi=armv8.2a is not a microarchitecture of linux-64"));
    {
        RenderOptions options;
        options.target_platform = "linux-aarch64";
        options.variants.values["accel"] = {"cpu"};
        options.variants.values["psabi"] = {"armv8.2a"};
        const auto outputs =
            render(kHead + "build: {variant: {use_keys: [accel, psabi]}}\n", options);
        if (!outputs) FAIL(outputs.error().to_string());
        CHECK(outputs->front().build.flags == Texts{"cpu", "psabi:armv8_2a"});
    }

    for (const auto& [key, value] :
         std::vector<std::pair<std::string, std::string>>{{"accel", "gpu"},
                                                          {"cuda_version", "12.99"},
                                                          {"cuda_arch_list", "8.0;first"},
                                                          {"psabi", "avx512"},
                                                          {"blas", "Intel MKL"}}) {
        gpkg::Variant variant{{"accel", "cuda"}};
        variant[key] = value;
        const auto outputs = made_of(variant);
        REQUIRE_FALSE(outputs);
        CHECK_THAT(outputs.error().message,
                   ContainsSubstring("invalid variant value " + key + "=" + value));
        CHECK_FALSE(outputs.error().hint.empty());
    }
}

TEST_CASE("words for whatever a compiler knows are refused with what to write", "[build]") {
    // "CUDA Compiler Driver NVCC" 12.4 and 11.8: the earliest target, each sm_*0, PTX of the last.
    const auto error_of = [](const std::string& list, const std::string& version) {
        RenderOptions options;
        options.variants.values["accel"] = {"cuda"};
        options.variants.values["cuda_arch_list"] = {list};
        if (!version.empty()) options.variants.values["cuda_version"] = {version};
        const auto outputs =
            render(kHead + "build: {variant: {use_keys: [accel, cuda_version, cuda_arch_list]}}\n",
                   options);
        REQUIRE_FALSE(outputs);
        return outputs.error();
    };
    const auto error = error_of("all-major", "12.4");
    CHECK(error.message.find("cuda_arch_list=all-major names no devices") != std::string::npos);
    CHECK(error.hint == "for CUDA 12.4 use 5.0;6.0;7.0;8.0;9.0+PTX");
    CHECK(error_of("all-major", "11.8").hint == "for CUDA 11.8 use 3.5;5.0;6.0;7.0;8.0;9.0+PTX");
    CHECK(error_of("all", "13.0").hint == "for CUDA 13.0 use 7.5;8.0;9.0;10.0;11.0;12.0+PTX");
    CHECK_THAT(error_of("8.0;native", "").message,
               ContainsSubstring("depends on the build machine"));
    CHECK_THAT(error_of("native", "").hint, ContainsSubstring("gpkg build plan-variants"));
}

TEST_CASE("keys of CUDA count for nothing where the output is not for CUDA", "[build]") {
    RenderOptions options;
    options.variants.values["accel"] = {"cpu", "cuda", "rocm"};
    options.variants.values["cuda_version"] = {"12.4", "13.0"};
    options.variants.values["rocm_version"] = {"6.3", "6.4"};
    const auto made = [&](const std::string& more) {
        const auto outputs = render(kHead + more, options);
        if (!outputs) FAIL(outputs.error().to_string());
        std::vector<std::string> all;
        for (const auto& output : *outputs) {
            std::string keys;
            for (const auto& [key, value] : output.used_variant) {
                if (!key.starts_with("__") && key != "target_platform") keys += value.text + " ";
            }
            all.push_back(keys);
        }
        std::sort(all.begin(), all.end());
        return all;
    };
    CHECK(made("build: {variant: {use_keys: [accel, cuda_version, rocm_version]}}\n") ==
          Texts{"cpu ", "cuda 12.4 ", "cuda 13.0 ", "rocm 6.3 ", "rocm 6.4 "});
    // What an expression reads makes a difference all the same.
    CHECK(made("build: {variant: {use_keys: [accel]}, script: 'echo ${{ cuda_version }}'}\n")
              .size() == 6);
    // Without accel they are keys like any other.
    CHECK(made("build: {variant: {use_keys: [cuda_version]}}\n") == Texts{"12.4 ", "13.0 "});
}

TEST_CASE("what is wrong with a recipe, and where", "[build]") {
    struct Row {
        std::string text, expected;
    };
    const std::string sha(64, 'a');
    const std::string r = "/r/recipe.yaml:";
    // clang-format off
    const std::vector<Row> rows = {
        {"package: {name: a, version: 1.10}\n",
         r + "1:29: the version 1.10 is a number, not a string\n  hint: put it in quotes: \"1.10\""},
        {"context: {v: 1.10}\npackage: {name: a, version: \"${{ v }}\"}\n",
         r + "1:14: the context value 1.10 is a number, not a string\n"
         "  hint: put it in quotes: \"1.10\""},
        {"context: {a: [1, x]}\n" + kHead,
         r + "1:14: the context value 'a' must be a single value or a list of values of one type"},
        {"context: {a: \"${{ b }}\", b: \"${{ a }}\"}\n" + kHead,
         r + "1:14: in '${{ b }}': " + r + "1:29: in '${{ a }}': the context value 'a' refers to itself"},
        {kHead + "biuld: {number: 1}\n",
         r + "2:1: unknown key 'biuld' in a recipe\n  hint: did you mean build?"},
        {kHead + "run: [a]\n",
         r + "2:1: unknown key 'run' in a recipe\n  hint: run belongs below requirements:"},
        {kHead + "build:\n  number: 1\n  scripts: x\n",
         r + "4:3: unknown key 'scripts' in build\n  hint: did you mean script?"},
        {kHead + "requirements:\n  run_constrains: [a]\n",
         r + "3:3: unknown key 'run_constrains' in requirements\n  hint: did you mean run_constraints?"},
        {kHead + "requirements:\n  run:\n    - a >=\n", ""},
        {kHead + "about:\n  license: MIT OR Zlip\n",
         r + "3:12: unknown SPDX licence 'Zlip'\n  hint: did you mean Zlib?"},
        {kHead + "requirements:\n  run: [\"${{ nam }}\"]\n",
         r + "3:9: in '${{ nam }}': 'nam' is not defined"},
        {kHead + "requirements:\n  run:\n    - {if: linx, then: a}\n",
         r + "4:12: in 'if: linx': 'linx' is not defined\n  hint: did you mean linux?"},
        {kHead + "requirements:\n  run:\n    - {if: linux}\n", r + "4:7: 'if' without 'then'"},
        {kHead + "requirements:\n  run:\n    - {if: linux, than: a}\n",
         r + "4:19: unknown key 'than' in a selector\n  hint: did you mean then?"},
        {kHead + "about: {summary: \"{% set x = 1 %}\"}\n",
         r + "2:18: '{%' blocks are not part of the recipe format\n"
         "  hint: use if/then/else in lists, or ${{ a if condition else b }}"},
        {kHead + "build: {number: -1}\n", r + "2:17: the build number cannot be negative"},
        {kHead + "build: {number: one}\n",
         r + "2:17: expected a whole number for build.number, found a string"},
        {kHead + "build: {noarch: true}\n", r + "2:17: noarch must be generic or python, not 'true'"},
        {kHead + "build: {script: gone.sh}\n", r + "2:17: script not found: /r/gone.sh"},
        {kHead + "build: {dynamic_linking: {rpaths: [../lib]}}\n",
         r + "2:35: the library path '../lib' points outside the prefix\n"
         "  hint: use a folder below the prefix such as lib/, or $ORIGIN/..."},
        {kHead + "build: {dynamic_linking: {overlinking_behavior: warn}}\n",
         r + "2:49: overlinking_behavior must be ignore or error, not 'warn'"},
        {kHead + "source: {url: https://h/a.tgz}\n",
         r + "2:9: a url source needs sha256\n"
         "  hint: add it, so that a changed file is detected"},
        {kHead + "source: {url: https://h/a.tgz, sha256: 12}\n", r + "2:40: a sha256 must have 64 hexadecimal digits"},
        {kHead + "source: {url: https://h/a.tgz, path: b, sha256: " + sha + "}\n",
         r + "2:9: a source needs exactly one of 'url', 'path' and 'git'"},
        {kHead + "source: {path: /r/none}\n",
         r + "2:16: /r/none does not exist\n  hint: a path is relative to the folder of the recipe"},
        {kHead + "tests:\n  - command: x\n", r + "3:5: unknown key 'command' in a test\n  hint: use script"},
        {kHead + "requirements: [a]\n",
         r + "2:15: expected a map for requirements, found a list\n"
         "  hint: its keys are build, host, run, run_constraints, run_exports, ignore_run_exports or extras"},
        {"package: {name: a, version: {{ v }}}\n", ""},
        {kHead + "requirements: {run: [\"${{ compiler(c) }}\"]}\n",
         r + "2:22: in '${{ compiler(c) }}': 'c' is not defined\n  hint: text needs quotes: \"c\""},
        {kHead + "build: {skip: win && linux}\n",
         r + "2:15: in 'skip: win && linux': unexpected '&& linux' in an expression\n  hint: use and, or, not"},
        {kHead + "build: {skip: target_platform = 'x'}\n",
         r + "2:15: in 'skip: target_platform = 'x'': unexpected '='\n  hint: to compare: =="},
        {kHead + "source: {git: https://h/a.git, tag: v1, rev: v2}\n",
         r + "2:46: use only one of 'branch', 'tag' and 'rev'"},
        {kHead + "source: {git: https://h/a.git, path: b}\n",
         r + "2:9: a source needs exactly one of 'url', 'path' and 'git'"},
        {kHead + "source: {git: https://h/a.git, rev: a, depth: 1}\n",
         r + "2:47: 'depth' cannot be used with 'rev'"},
        {kHead + "source: {git: https://h/a.git, branch: --upload-pack=x}\n",
         r + "2:40: invalid branch '--upload-pack=x'"},
        {kHead + "source: {git: gone}\n", r + "2:15: /r/gone does not exist"},
        {kHead + "source: {url: https://h/a, tag: v1, sha256: " + sha + "}\n",
         r + "2:33: 'tag' is only allowed with 'git'"},
        {kHead + "build: {script: {interpreter: cobol, content: x}}\n",
         r + "2:31: unsupported interpreter 'cobol'\n"
         "  hint: use bash, node, nu, nushell, perl, python, r, rscript, ruby"},
        {kHead + "build: {flags: [\"GPU\"]}\n",
         r + "2:16: invalid flag 'GPU'\n"
         "  hint: use lower case letters, digits and _, with at most one :"},
        {kHead + "requirements: {extras: {Docs: [a]}}\n",
         r + "2:25: invalid name of an extra: 'Docs'\n"
         "  hint: use at most 64 lower case letters, digits and _ . + -"},
        {kHead + "source: {url: https://h/a, sha256: " + sha + ", target_directory: ../x}\n",
         r + "2:120: '../x' points outside the work folder"},
        {kHead + "tests:\n  - scripts: x\n", r + "3:5: unknown key 'scripts' in a test\n  hint: did you mean script?"},
        {kHead + "tests: x\n", r + "2:8: expected a list of tests, found a string"},
        {"package: {name: a b, version: '1'}\n",
         r + "1:17: invalid package name 'a b'\n  hint: use lower case letters, digits and single - _ . between them"},
        {"package: {name: A, version: '1'}\n",
         r + "1:17: invalid package name 'A'\n  hint: use lower case letters, digits and single - _ . between them"},
        {"package: {name: a}\n", r + "1:10: the package has no version\n  hint: add version: \"1.0\" below package:"},
        {"package: {name: a, version: 1-2}\n", ""},
        {"about: {}\n", r + "1:1: the recipe has neither 'package' nor 'outputs'"},
        {kHead + "outputs: []\n", r + "1:1: a recipe cannot have both 'package' and 'outputs'\n"
         "  hint: put the shared name and version under 'recipe'"},
        {"schema_version: 2\n" + kHead,
         r + "1:17: schema_version 2 is not supported; gpkg reads 1"},
        {"- a\n", r + "1:1: expected a recipe, found a list"},
        {"recipe: {version: '1'}\nrequirements: {host: [a]}\noutputs:\n  - package: {name: a}\n",
         r + "2:1: 'requirements' is not allowed beside 'outputs'\n  hint: move it to an output; if several packages need it, to a staging output"},
        {"recipe: {version: '1'}\nbuild:\n  script: x\noutputs:\n  - package: {name: a}\n",
         r + "3:3: 'build.script' is not allowed beside 'outputs'\n  hint: move it to an output; if several packages need it, to a staging output"},
        {"recipe: {version: '1'}\noutputs:\n  - package: {name: a}\n  - package: {name: a}\n",
         r + "4:5: two outputs have the same file name a-1-hb0f4dca_0\n  hint: skip one of them, or change its build.string"},
        {"outputs:\n  - package: {name: a, version: '1'}\n    requirements: {run: [\"${{ pin_subpackage('a', exact=true) }}\"]}\n",
         r + "3:26: in '${{ pin_subpackage('a', exact=true) }}': " + r + "2:5: 'a' pins or inherits itself"},
    };
    // clang-format on
    for (const auto& row : rows) {
        CAPTURE(row.text);
        if (row.expected.empty()) {
            CHECK(error_of(row.text).starts_with(r));
        } else {
            CHECK(error_of(row.text) == row.expected);
        }
    }
}

TEST_CASE("a rendered recipe is written without logic", "[build]") {
    const auto output = one(kHead +
                            "build:\n  script: [a, b]\nrequirements: {run: [\"c >=1\"]}\n"
                            "tests: [{script: [t]}]\nabout: {summary: \"x: y\"}\n");
    CHECK(gpkg::rendered_recipe_text(output) == R"(rendered_recipe_version: 1
recipe:
  schema_version: 1
  package:
    name: a
    version: "1"
  build:
    number: 0
    string: hb0f4dca_0
    script:
      content: "a\nb\n"
    dynamic_linking:
      rpaths:
        - lib/
      binary_relocation: true
  requirements:
    run:
      - c >=1
  about:
    summary: "x: y"
  tests:
    - script:
        - t
build_configuration:
  target_platform: linux-64
  host_platform: linux-64
  variant:
    target_platform: linux-64
  hash:
    hash: b0f4dca
)");
}

}  // namespace recipe_test
