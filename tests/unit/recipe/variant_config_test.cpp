#include "libcore/recipe/variant_files.hpp"
#include "tests/support/catch.hpp"

#include <filesystem>
#include <fstream>

using namespace gpkg;
using Texts = std::vector<std::string>;
using Values = std::vector<VariantValue>;
using AllValues = std::map<std::string, Values>;

namespace variant_config_test {
namespace {

VariantConfig parse(std::string_view text,
                    const std::string& where = "/r/variants.yaml",
                    const RenderOptions& options = {}) {
    auto config = parse_variant_file(text, where, options);
    if (!config) FAIL(config.error().to_string());
    return *std::move(config);
}

std::string error_of(std::string_view text, const std::string& where = "/r/variants.yaml") {
    const auto config = parse_variant_file(text, where, {});
    return config ? "no error" : config.error().to_string();
}

std::vector<RenderedOutput> render(const std::string& text, const VariantConfig& variants) {
    const auto recipe = parse_recipe(text, "/nowhere/recipe.yaml");
    REQUIRE(recipe);
    RenderOptions options;
    options.variants = variants;
    auto outputs = render_recipe(*recipe, options);
    if (!outputs) FAIL(outputs.error().to_string());
    return *std::move(outputs);
}

Texts hash_inputs(const std::vector<RenderedOutput>& outputs) {
    Texts texts;
    for (const auto& output : outputs)
        texts.push_back(output.name + " " + hash_input_text(output.used_variant));
    return texts;
}

const std::string kHead = "package: {name: a, version: '1'}\n";

}  // namespace

TEST_CASE("variants.yaml gives keys their values", "[build]") {
    const auto config = parse(
        "python: ['3.11', '3.12']\n"
        "c-compiler: gcc\n"
        "number: [1, 2.10, true]\n"
        "empty: []\n"
        "blas:\n- {if: linux, then: [mkl, openblas], else: accelerate}\n"
        "- ${{ 'none' if win }}\n"
        "pin_run_as_build: {python: {max_pin: x.x}}\n");
    CHECK(config.values == AllValues{{"blas", {"mkl", "openblas"}},
                                     {"c_compiler", {"gcc"}},
                                     {"number", {{"1", true}, "2.10", {"true", true}}},
                                     {"python", {"3.11", "3.12"}}});
    CHECK(config.zip_keys.empty());
}

TEST_CASE("conda_build_config.yaml has its selectors in comments", "[build]") {
    RenderOptions options;
    options.environment = [](const std::string& name) -> std::optional<std::string> {
        return name == "CF_CUDA_ENABLED" ? std::optional<std::string>("True") : std::nullopt;
    };
    const auto config = parse(
        "c_stdlib:\n- sysroot  # [linux]\n- macosx_deployment_target  # [osx]\n"
        "cuda_compiler_version:\n- None\n"
        "- 12.9  # [linux and os.environ.get(\"CF_CUDA_ENABLED\", \"False\") == \"True\"]\n"
        "- 11.8  # [win or (aarch64 and environ.get('NONE') == 'x')]\n"
        "perl:\n  - 5.32.1  # the one and only\n",
        "/r/conda_build_config.yaml",
        options);
    CHECK(config.values == AllValues{{"c_stdlib", {"sysroot"}},
                                     {"cuda_compiler_version", {"None", "12.9"}},
                                     {"perl", {"5.32.1"}}});
    CHECK(error_of("a:\n- b  # [lunix]\n", "/r/conda_build_config.yaml") ==
          "/r/conda_build_config.yaml:2: 'lunix' is not defined\n  hint: did you mean unix?");
}

TEST_CASE("keys that go together have as many values", "[build]") {
    const auto config =
        parse("zip_keys:\n- [python, numpy]\npython: ['3.11', '3.12']\nnumpy: ['1', '2']\n");
    CHECK(config.choices("numpy") == std::vector<Variant>{{{"numpy", "1"}, {"python", "3.11"}},
                                                          {{"numpy", "2"}, {"python", "3.12"}}});
    CHECK(config.choices("unknown").empty());
    // One group alone, and one whose other keys have no values.
    CHECK(parse("zip_keys: [a, b]\na: [1, 2]\nb: [3, 4]\n").zip_keys ==
          std::vector<Texts>{{"a", "b"}});
    CHECK(parse("zip_keys: [[a, b]]\na: [1, 2]\n").choices("a").size() == 2);
    CHECK(error_of("zip_keys: [[a, b]]\na: [1, 2]\nb: 3\n") ==
          "/r/variants.yaml: the variant keys a and b are zipped (zip_keys) but have 2 and 1 "
          "values\n"
          "  hint: give both the same number of values, or remove them from zip_keys");
    CHECK(error_of("zip_keys: [[a, b], [b, c]]\n").find("b is listed twice in zip_keys") !=
          std::string::npos);
}

TEST_CASE("null in a list of variant values is None", "[build]") {
    CHECK(parse("a: [null, '12.9']\n").values.at("a") ==
          parse("a: [None, '12.9']\n").values.at("a"));
    CHECK(parse("a: [~, '12.9']\n").values.at("a").front().text == "None");
}

TEST_CASE("a damaged configuration is refused with its place", "[build]") {
    CHECK(error_of("- a\n") ==
          "/r/variants.yaml:1:1: expected a map of variant keys, found a list");
    CHECK(error_of("a: {b: c}\n").starts_with("/r/variants.yaml:1:4: expected values of a"));
    CHECK(error_of("a-b: 1\na_b: 2\n").find("duplicate variant key a_b") != std::string::npos);
    CHECK(error_of("zip_keys: {a: b}\n").find("expected a list of groups") != std::string::npos);
}

TEST_CASE("what is said later goes before", "[build]") {
    auto config = parse("zip_keys: [[a, b]]\na: ['1', '2']\nb: ['3', '4']\nc: '5'\n");
    REQUIRE(config.override_with(parse("zip_keys: [[b, c]]\nb: ['6']\nc: ['7']\n")));
    CHECK(config.zip_keys == std::vector<Texts>{{"b", "c"}});
    CHECK(config.values["a"] == Values{"1", "2"});
    CHECK(config.choices("b") == std::vector<Variant>{{{"b", "6"}, {"c", "7"}}});
    CHECK_FALSE(config.override_with(parse("c: [1, 2]\n")));
    CHECK(parse_variant_choice("py-thon=3.11, 3.12")->values ==
          AllValues{{"py_thon", {"3.11", "3.12"}}});
    CHECK_FALSE(parse_variant_choice("python"));
}

TEST_CASE("a recipe is rendered for the variants that it depends on", "[build]") {
    const auto config = parse("python: ['3.11', '3.12']\nblas: [mkl, openblas]\nunused: [1, 2]\n");
    CHECK(hash_inputs(render(kHead + "requirements: {host: [python, numpy]}\n", config)) ==
          Texts{R"(a {"python": "3.11", "target_platform": "linux-64"})",
                R"(a {"python": "3.12", "target_platform": "linux-64"})"});
    CHECK(render(kHead, config).size() == 1);
    CHECK(render(kHead + "build: {noarch: python}\nrequirements: {host: [python]}\n", config)
              .size() == 1);
    CHECK(render(kHead + "requirements: {host: [python, blas]}\n", config).size() == 4);
    CHECK(render(kHead + "build: {variant: {ignore_keys: [blas]}}\n"
                         "requirements: {host: [python, blas]}\n",
                 config)
              .size() == 2);
    // What the variant pins is what is built with.
    CHECK(render(kHead + "requirements: {host: [python]}\n", config)[1].requirements.host ==
          Texts{"python 3.12.*"});
}

TEST_CASE("a key that is read in one variant only makes variants of that one", "[build]") {
    const auto config = parse("maker: [none, nvidia]\ncuda: ['12.9', '13.0']\n");
    const auto outputs = render(kHead +
                                    "requirements:\n  run:\n    - {if: \"maker == 'nvidia'\", "
                                    "then: \"cuda-version ${{ cuda }}\"}\n",
                                config);
    CHECK(hash_inputs(outputs) ==
          Texts{R"(a {"maker": "none", "target_platform": "linux-64"})",
                R"(a {"cuda": "12.9", "maker": "nvidia", "target_platform": "linux-64"})",
                R"(a {"cuda": "13.0", "maker": "nvidia", "target_platform": "linux-64"})"});
    // Also where the key decides that there is no output.
    const auto skipped = render(
        kHead + "build: {skip: [\"maker == 'none'\"]}\nrequirements: {host: [cuda]}\n", config);
    CHECK(skipped.size() == 2);
}

TEST_CASE("each output has its own variants, and is made once", "[build]") {
    const auto config = parse("python: ['3.11', '3.12']\nopenssl: '3'\n");
    const auto outputs = render(
        "recipe: {version: '1'}\noutputs:\n"
        "- package: {name: lib}\n  requirements: {host: [openssl]}\n"
        "- package: {name: bindings}\n  requirements:\n"
        "    host: [python, \"${{ pin_subpackage('lib', exact=True) }}\"]\n",
        config);
    Texts names;
    for (const auto& output : outputs) names.push_back(output.name);
    CHECK(names == Texts{"lib", "bindings", "bindings"});
    CHECK(outputs[1].used_variant.at("python") == "3.11");
    CHECK(outputs[2].used_variant.at("lib") == outputs[1].used_variant.at("lib"));
}

TEST_CASE("variants must not share a file name", "[build]") {
    const auto recipe = parse_recipe(
        kHead + "build: {string: fixed}\nrequirements: {host: [python]}\n", "/r/recipe.yaml");
    RenderOptions options;
    options.variants = parse("python: ['3.11', '3.12']\n");
    const auto outputs = render_recipe(*recipe, options);
    REQUIRE_FALSE(outputs);
    CHECK(outputs.error().message.find("two variants of a have the same file name a-1-fixed:") !=
          std::string::npos);
}

TEST_CASE("files beside the recipe are read, and what is asked for goes before them", "[build]") {
    const fs::path folder = fs::temp_directory_path() / "gpkg-variant-files";
    fs::create_directories(folder);
    std::ofstream(folder / "conda_build_config.yaml") << "python:\n- 3.10\nblas:\n- mkl\n";
    std::ofstream(folder / "variants.yaml") << "python: ['3.11', '3.12']\nopenssl: '3'\n";
    const auto recipe = parse_recipe(kHead, folder / "recipe.yaml");
    RenderOptions options;
    options.variants = VariantConfig::of({{"openssl", "1.1"}});
    const auto config = variants_for(*recipe, options);
    REQUIRE(config);
    CHECK(config->values == AllValues{{"blas", {"mkl"}},
                                      {"build_platform", {"linux-64"}},
                                      {"openssl", {"1.1"}},
                                      {"python", {"3.11", "3.12"}}});
    fs::remove_all(folder);
}

TEST_CASE("published packages have the hashes that their variants make", "[build]") {
    // ruff 0.16.2 h462bb3b_0, pydantic-core 2.46.4 py310hd8f68c5_0 and jaxlib 0.9.2
    // cuda129_py311h6689f8c_200 of conda-forge: each is what its recipe and variant file hash to,
    // with the platform that it was built on, which all of them read.
    const Variant shared{{"c_compiler", "gcc"},
                         {"c_compiler_version", "14"},
                         {"c_stdlib", "sysroot"},
                         {"c_stdlib_version", "2.17"},
                         {"channel_sources", "conda-forge"},
                         {"channel_targets", "conda-forge main"},
                         {"rust_compiler", "rust"},
                         {"target_platform", "linux-64"}};
    auto ruff = shared;
    ruff.insert({{"build_platform", "linux-64"},
                 {"python_min", "3.10"},
                 {"rust_compiler_version", "1.95"}});
    CHECK(variant_hash(ruff) == "462bb3b");
    auto pydantic_core = shared;
    pydantic_core.insert({{"build_platform", "linux-64"}, {"python", "3.10.* *_cpython"}});
    CHECK(default_build_string(pydantic_core, false, 0) == "py310hd8f68c5_0");
    const Variant jaxlib{{"__cuda", "__cuda"},
                         {"build_platform", "linux-64"},
                         {"c_compiler", "clang"},
                         {"c_compiler_version", "20"},
                         {"c_stdlib", "sysroot"},
                         {"c_stdlib_version", "2.17"},
                         {"channel_sources", "conda-forge"},
                         {"channel_targets", "conda-forge main"},
                         {"cuda_compiler", "cuda-nvcc"},
                         {"cuda_compiler_version", "12.9"},
                         {"cudnn", "9"},
                         {"cxx_compiler", "clangxx"},
                         {"cxx_compiler_version", "20"},
                         {"flatbuffers", "25.9.23"},
                         {"libabseil", "20260107"},
                         {"libgrpc", "1.78"},
                         {"libprotobuf", "6.33.5"},
                         {"nccl", "2"},
                         {"numpy", "2"},
                         {"openssl", "3.5"},
                         {"python", "3.11.* *_cpython"},
                         {"re2", "2025.11.05"},
                         {"target_platform", "linux-64"},
                         {"zlib", "1"}};
    CHECK(variant_hash(jaxlib) == "6689f8c");
}

TEST_CASE("a recipe that reads where it is built depends on it", "[build]") {
    const auto outputs =
        render(kHead +
                   "requirements:\n  build:\n"
                   "    - {if: build_platform != target_platform, then: crossenv}\n",
               {});
    CHECK(hash_inputs(outputs) ==
          Texts{R"(a {"build_platform": "linux-64", "target_platform": "linux-64"})"});
}

TEST_CASE("truth values of a file are such", "[build]") {
    // As conda-forge's polars-runtime has them: 1.41.2 is py310h49dadd8_0.
    const auto config = parse("is_abi3: [true, false]\nquoted: ['false']\ncount: [3]\n");
    const auto outputs = render(kHead +
                                    "build: {skip: [not is_abi3]}\n"
                                    "requirements:\n  run:\n    - {if: quoted, then: a}\n"
                                    "    - {if: count == 3, then: b}\n",
                                config);
    REQUIRE(outputs.size() == 1);
    CHECK(hash_input_text(outputs[0].used_variant) ==
          R"({"count": 3, "is_abi3": true, "quoted": "false", "target_platform": "linux-64"})");
    CHECK(outputs[0].requirements.run == Texts{"a", "b"});
    const Variant polars{{"build_platform", "linux-64"},
                         {"c_compiler", "gcc"},
                         {"c_compiler_version", "14"},
                         {"c_stdlib", "sysroot"},
                         {"c_stdlib_version", "2.17"},
                         {"channel_sources", "conda-forge/label/rust_dev,conda-forge"},
                         {"channel_targets", "conda-forge main"},
                         {"cxx_compiler", "gxx"},
                         {"cxx_compiler_version", "14"},
                         {"is_abi3", {"true", true}},
                         {"polars_runtime", "32"},
                         {"python", "3.10.* *_cpython"},
                         {"python_min", "3.10"},
                         {"rust_compiler", "rust"},
                         {"rust_compiler_version", "1.96.0"},
                         {"target_platform", "linux-64"}};
    CHECK(default_build_string(polars, false, 0) == "py310h49dadd8_0");
    CHECK(parse("count: [3]\n", "/r/conda_build_config.yaml").values["count"] == Values{"3"});
}

TEST_CASE("a key that the context gives is not read from the variant", "[build]") {
    // conda-forge's array-api-compat 1.14.0 is pyhc364b38_0, though python_min is a key there.
    const auto config = parse(
        "python_min: ['3.10']\nchannel_targets: [conda-forge main]\n"
        "channel_sources: [conda-forge]\n");
    const std::string rest =
        "package: {name: a, version: '1'}\nbuild: {noarch: python}\n"
        "requirements: {run: [\"python >=${{ python_min }}\"]}\n";
    const auto own = render("context: {python_min: '3.10'}\n" + rest, config);
    REQUIRE(own.size() == 1);
    CHECK(own[0].build_string == "pyhc364b38_0");
    CHECK(render(rest, config)[0].build_string == "pyhcf101f3_0");
    // Of its own name it can only mean the variant's.
    const auto both = render("context: {mpi: \"${{ mpi or 'nompi' }}\"}\n" + kHead +
                                 "requirements: {run: [\"${{ mpi }}\"]}\n",
                             parse("mpi: [mpich, openmpi]\n"));
    REQUIRE(both.size() == 2);
    CHECK(both[0].requirements.run == Texts{"mpich"});
    CHECK(both[1].used_variant.at("mpi") == "openmpi");
}

TEST_CASE("a key that only the context reads counts", "[build]") {
    // conda-forge's numpy names is_freethreading there for that alone: 2.5.1 is py312h33ff503_0.
    const auto config = parse(
        "build_platform: [linux-64]\nchannel_sources: [conda-forge]\n"
        "channel_targets: [conda-forge main]\nc_compiler: [gcc]\nc_compiler_version: ['14']\n"
        "cxx_compiler: [gxx]\ncxx_compiler_version: ['14']\nfortran_compiler: [gfortran]\n"
        "fortran_compiler_version: ['14']\nc_stdlib: [sysroot]\nc_stdlib_version: ['2.17']\n"
        "libblas: [3.9.* *netlib]\nlibcblas: [3.9.* *netlib]\nliblapack: [3.9.* *netlib]\n"
        "is_freethreading: [false]\npython: [3.12.* *_cpython]\n");
    const auto outputs = render(
        "context: {touch: \"${{ is_freethreading }}\"}\n" + kHead +
            "requirements:\n  build:\n"
            "    - {if: build_platform != host_platform, then: python}\n"
            "    - ${{ stdlib('c') }}\n    - ${{ compiler('c') }}\n    - ${{ compiler('cxx') }}\n"
            "    - ${{ compiler('fortran') }}\n"
            "  host: [libblas, libcblas, liblapack, python]\n",
        config);
    REQUIRE(outputs.size() == 1);
    CHECK(outputs[0].build_string == "py312h33ff503_0");
}

TEST_CASE("outputs of one name, each for other variants", "[build]") {
    // As conda-forge's backports.zstd: one for each old python, one for all later ones.
    const std::string recipe =
        "recipe: {version: '1'}\noutputs:\n"
        "  - package: {name: a}\n"
        "    build: {skip: \"match(python, '>=3.14')\"}\n"
        "    requirements: {host: [python]}\n"
        "  - package: {name: a}\n"
        "    build: {skip: \"not match(python, '>=3.14')\", noarch: generic}\n"
        "    requirements: {run: [python >=3.14]}\n"
        "  - package: {name: b}\n"
        "    requirements: {run: [\"${{ pin_subpackage('a', exact=True) }}\"]}\n";
    const auto outputs = render(recipe, parse("python: ['3.13.* *_cp313', '3.14.* *_cp314']\n"));
    Texts found;
    for (const auto& output : outputs)
        found.push_back(output.name + " " + output.subdir + " " +
                        (output.name == "b" ? output.requirements.run.at(0) : ""));
    REQUIRE(found.size() == 4);
    CHECK(found[0] == "a linux-64 ");
    CHECK(found[1] == "b linux-64 a ==1 " + outputs[0].build_string);
    CHECK(found[2] == "a noarch ");
    CHECK(found[3] == "b linux-64 a ==1 " + outputs[2].build_string);
}

TEST_CASE("what recipes use that CEP 14 does not name", "[build]") {
    const auto outputs =
        render(kHead +
                   "build: {number: 213, string: \"gpu_h${{ hash }}_${{ "
                   "build_number }}\"}\n"
                   "requirements: {run: [{if: osx-64, then: x}, {if: linux + 1 == 2, "
                   "then: y}]}\n",
               {});
    CHECK(outputs.at(0).build_string.ends_with("_213"));
    // A truth value is a number where it is computed with, as in Python: "osx-64" is -64 here.
    CHECK(outputs[0].requirements.run == Texts{"x", "y"});
    CHECK(render("context: {build_number: 5}\n" + kHead +
                     "build: {number: 1, string: \"b${{ build_number }}\"}\n",
                 {})[0]
              .build_string == "b5");
}

}  // namespace variant_config_test
