// Recipes of components: that they can be rendered, and that every file is in exactly one package.

#include "libcore/redist/component_recipe.hpp"

#include "libcore/base/path_glob.hpp"
#include "libcore/recipe/render.hpp"
#include "libcore/redist/component_facts.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <regex>

namespace component_recipe_test {
namespace {

using Texts = std::vector<std::string>;
using Listings = std::map<std::string, gpkg::RedistListing>;

gpkg::RedistManifest manifest_of(const Texts& keys) {
    gpkg::RedistManifest manifest;
    manifest.where = "redistrib_12.9.1.json";
    manifest.product = "cuda";
    manifest.label = "12.9.1";
    for (const auto& key : keys) {
        gpkg::RedistComponent component;
        component.key = key;
        component.title = "The: " + key + ", with more";
        component.license = "CUDA Toolkit";
        component.version = "12.9.79";
        for (const auto* platform : {"linux-x86_64", "linux-sbsa"})
            component.archives[platform][""] = {key + ".tar.xz", std::string(64, 'a'), {}};
        manifest.components.push_back(component);
    }
    return manifest;
}

struct Made {
    gpkg::ComponentRecipe recipe;
    std::vector<gpkg::RenderedOutput> outputs;

    const gpkg::RenderedOutput& output(const std::string& name) const {
        const auto found = std::find_if(outputs.begin(), outputs.end(), [&](const auto& one) {
            return one.name == name && !one.is_staging;
        });
        REQUIRE(found != outputs.end());
        return *found;
    }
};

Made make(const std::string& key,
          const Texts& plain = {},
          const std::string& subdir = "linux-64",
          const Texts& siblings = {"cuda_cudart", "cuda_cccl", "libnvjitlink"},
          Listings listings = {}) {
    auto keys = siblings;
    keys.push_back(key);
    const auto manifest = manifest_of(keys);
    const auto platform = gpkg::redist_platform(subdir, false).value();
    const auto& component = manifest.components.back();
    const auto choice = gpkg::choose_archive(manifest, component, platform, "").value();
    if (!plain.empty()) {
        auto& listing = listings[key];
        for (const auto part : gpkg::redist_parts()) listing.parts.insert(part);
        listing.plain_libraries = plain;
    }
    const gpkg::ComponentRecipeInput input{
        manifest, component, choice, subdir, false, {"https://example.org/a.tar.xz"}, listings};
    Made made{gpkg::component_recipe(input), {}};
    const auto folder = gpkg::TemporaryFolder::make(gpkg::fs::temp_directory_path()).value();
    const auto file = folder.path() / "recipe.yaml";
    REQUIRE(gpkg::write_file_atomically(file, made.recipe.recipe));
    if (!made.recipe.variants.empty())
        REQUIRE(gpkg::write_file_atomically(folder.path() / "variants.yaml", made.recipe.variants));
    const auto recipe = gpkg::load_recipe(file);
    if (!recipe) FAIL(recipe.error().to_string());
    gpkg::RenderOptions options;
    options.target_platform = subdir;
    auto outputs = gpkg::render_recipe(*recipe, options);
    if (!outputs) FAIL(outputs.error().to_string());
    made.outputs = *std::move(outputs);
    return made;
}

/// The packages that take a file.
std::string takers(const Made& made, const std::string& path) {
    std::string names;
    for (const auto& output : made.outputs) {
        if (output.is_staging || gpkg::any_path_glob_matches(output.build.files_exclude, path) ||
            !gpkg::any_path_glob_matches(output.build.files_include, path))
            continue;
        names += (names.empty() ? "" : " ") + output.name;
    }
    return names;
}

}  // namespace

TEST_CASE("every file is in exactly one package", "[redist]") {
    const std::string t = "targets/x86_64-linux/";
    // clang-format off
    const std::vector<std::pair<std::string, std::string>> rows = {
        {t + "lib/libcudart.so.12", "cuda-cudart"}, {"lib/libcudart.so.12.9.79", "cuda-cudart"},
        {t + "lib/libcudart.so", "cuda-cudart-dev"}, {"lib/libcudart.so", "cuda-cudart-dev"},
        {t + "lib/libx.so.1.so", "cuda-cudart"}, {t + "lib/libx.so.a", "cuda-cudart-static"},
        {t + "lib/plugins/a.so", "cuda-cudart"}, {t + "lib/stubs/libcuda.so", "cuda-driver-dev"},
        {"lib/stubs/libcuda.so.1", "cuda-driver-dev"}, {t + "lib/libcudart_static.a", "cuda-cudart-static"},
        {"nvvm/lib64/libx.a", "cuda-cudart-static"}, {t + "include/cuda.h", "cuda-cudart-dev"},
        {t + "include/x.so.1", "cuda-cudart-dev"}, {t + "lib/cmake/a/b-config.cmake", "cuda-cudart-dev"},
        {"lib/pkgconfig/cudart.pc", "cuda-cudart-dev"}, {"bin/nvcc", "cuda-cudart-tools"},
        {"nvvm/lib64/libnvvm.so", "cuda-cudart-tools"}, {"nvvm/include/nvvm.h", "cuda-cudart-tools"},
        {"share/cuda-cudart/samples/lib/x.a", "cuda-cudart-docs"},
        {"share/other/x", ""}, {t + "lib/data.json", ""}, {"stray", ""}, {"lib/stray", ""},
    };
    // clang-format on
    const auto made = make("cuda_cudart", {}, "linux-64", {});
    CHECK(made.recipe.packages == Texts{"cuda-cudart",
                                        "cuda-driver-dev",
                                        "cuda-cudart-static",
                                        "cuda-cudart-dev",
                                        "cuda-cudart-tools",
                                        "cuda-cudart-docs"});
    // The script's pattern is what the globs together are.
    const auto& text = made.recipe.recipe;
    const auto start = text.find("known='") + 7;
    const std::regex known(text.substr(start, text.find('\'', start) - start),
                           std::regex::extended);
    for (const auto& [path, expected] : rows) {
        CAPTURE(path);
        CHECK(takers(made, path) == expected);
        CHECK(std::regex_match(path, known) == !expected.empty());
        // However parts are put together, there is one package or none.
        for (const auto* key : {"cuda_nvdisasm", "cuda_nvml_dev", "cuda_cccl", "libcublas"}) {
            const auto other = make(key, {t + "lib/libplain.so", "lib/libplain.so"});
            CHECK(takers(other, path).find(' ') == std::string::npos);
            // Documents of another component are nobody's here.
            if (!path.starts_with("share/")) CHECK(takers(other, path).empty() == expected.empty());
        }
    }
}

TEST_CASE("libraries without a version belong to the runtime", "[redist]") {
    const std::string plain = "targets/x86_64-linux/lib/libplain.so";
    CHECK(takers(make("libcublas", {plain}), plain) == "libcublas");
    CHECK(takers(make("libcublas", {"lib/x.so"}), plain) == "libcublas-dev");
    CHECK(takers(make("cuda_nvdisasm", {plain}), plain) == "cuda-nvdisasm");
}

TEST_CASE("what packages of a component depend on and export", "[redist]") {
    const auto cudart = make("cuda_cudart", {}, "linux-64", {"cuda_cccl"});
    const auto& dev = cudart.output("cuda-cudart-dev").requirements;
    REQUIRE(dev.run.size() == 4);
    CHECK(dev.run[0] == "cuda-version 12.9.*");
    CHECK_THAT(dev.run[1], ContainsSubstring("cuda-cudart ==12.9.79 "));
    CHECK(dev.run[2] == "cuda-cccl >=12.9.79,<13.0a0");
    CHECK_THAT(dev.run[3], ContainsSubstring("cuda-cudart-static ==12.9.79 "));
    CHECK(dev.run_exports.weak == Texts{"cuda-cudart >=12.9.79,<13.0a0"});
    CHECK(cudart.output("cuda-cudart").requirements.run == Texts{"cuda-version 12.9.*"});
    CHECK(cudart.output("cuda-cudart-docs").requirements.run.empty());

    const auto sparse = make("libcusparse");
    CHECK(sparse.output("libcusparse").requirements.run ==
          Texts{"cuda-version 12.9.*", "libnvjitlink >=12.9.79,<13.0a0"});
    CHECK(sparse.output("libcusparse-dev").requirements.run_constraints ==
          Texts{"libcusparse-static >=12.9.79"});
    // A sibling that the manifest does not have is still needed.
    CHECK(make("libcublas").output("libcublas").requirements.run[1] == "cuda-nvrtc");

    // There is no runtime of a compiler, and no header apart from a library of headers.
    CHECK(make("cuda_nvcc").recipe.packages.front() == "cuda-nvcc-stubs");
    const auto cccl = make("cuda_cccl", {}, "linux-64", {});
    CHECK(cccl.output("cuda-cccl").requirements.run_exports.weak.empty());
}

TEST_CASE("what libraries need becomes dependencies", "[redist]") {
    using gpkg::RedistPart;
    Listings listings;
    auto& solver = listings["libcusolver"];
    solver.parts = {RedistPart::Runtime, RedistPart::Dev, RedistPart::Tools};
    solver.libraries = {{"libcusolver.so.11", RedistPart::Runtime}};
    solver.needs[RedistPart::Runtime] = {"libcublas.so.12",
                                         "libcublasLt.so.12",
                                         "libodd.so.3",
                                         "libcuda.so.1",
                                         "libm.so.6",
                                         "libstdc++.so.6",
                                         "libcusolver.so.11",
                                         "libnobody.so.1"};
    solver.needs[RedistPart::Tools] = {"libcusolver.so.11", "libc.so.6"};
    // A library whose name tells nothing: its archive does.
    auto& odd = listings["libodd"];
    odd.parts = {RedistPart::Runtime, RedistPart::Stubs};
    odd.libraries = {{"libodd.so.3", RedistPart::Runtime}};

    const auto made = make("libcusolver", {}, "linux-64", {"libcublas", "libodd"}, listings);
    CHECK(made.output("libcusolver").requirements.run == Texts{"cuda-version 12.9.*",
                                                               "libcublas >=12.9.79,<13.0a0",
                                                               "libodd >=12.9.79,<13.0a0",
                                                               "libstdcxx"});
    CHECK(made.recipe.unknown_needs == Texts{"libnobody.so.1"});
    const auto& tools = made.output("libcusolver-tools").requirements.run;
    REQUIRE(tools.size() == 2);
    CHECK_THAT(tools[1], ContainsSubstring("libcusolver ==12.9.79 "));
    // Without its archive at hand the names have to do; that libcusparse is meant is only known of.
    CHECK(
        make("libcusolver", {}, "linux-64", {"libcublas"}).output("libcusolver").requirements.run ==
        Texts{"cuda-version 12.9.*", "libcublas >=12.9.79,<13.0a0", "libcusparse", "libnvjitlink"});
    CHECK(gpkg::component_of_library("libcublasLt.so.12") == "libcublas");
    CHECK(gpkg::component_of_library("libcublasXt.so.12").empty());
}

TEST_CASE("the compiler's package brings together what compiling needs", "[redist]") {
    const auto of = [](const Made& made) {
        Texts names;
        for (const auto& spec : made.output("cuda-nvcc").requirements.run)
            names.push_back(spec.substr(0, spec.find(' ')));
        return names;
    };
    const auto old = make("cuda_nvcc", {}, "linux-64", {"cuda_cudart"});
    CHECK(of(old) == Texts{"cuda-version",
                           "cuda-nvcc-tools",
                           "cuda-nvcc-dev",
                           "cuda-cudart-dev",
                           "cuda-driver-dev"});
    CHECK(old.output("cuda-nvcc").requirements.run_exports.strong ==
          Texts{"cuda-version >=12.9,<13.0a0"});
    CHECK(takers(old, "etc/conda/activate.d/~cuda-nvcc_activate.sh") == "cuda-nvcc");
    // CUDA 13 has split it. A part that is known to be empty has no package.
    Listings listings;
    listings["cuda_crt"].parts = {gpkg::RedistPart::Dev};
    const auto split =
        make("cuda_nvcc", {}, "linux-64", {"cuda_cudart", "cuda_crt", "libnvvm"}, listings);
    CHECK(of(split) == Texts{"cuda-version",
                             "cuda-nvcc-tools",
                             "cuda-nvcc-dev",
                             "cuda-crt-dev",
                             "libnvvm-tools",
                             "cuda-cudart-dev",
                             "cuda-driver-dev"});
    // Headers of the runtime include the compiler's, wherever those are.
    const auto headers = [](const Texts& siblings) {
        return make("cuda_cudart", {}, "linux-64", siblings)
            .output("cuda-cudart-dev")
            .requirements.run;
    };
    const auto has = [](const Texts& specs, const std::string& spec) {
        return std::find(specs.begin(), specs.end(), spec) != specs.end();
    };
    CHECK(has(headers({"cuda_nvcc"}), "cuda-nvcc-dev >=12.9.79,<13.0a0"));
    CHECK(has(headers({"cuda_nvcc", "cuda_crt"}), "cuda-crt-dev >=12.9.79,<13.0a0"));
    CHECK_FALSE(has(headers({"cuda_nvcc", "cuda_crt"}), "cuda-nvcc-dev >=12.9.79,<13.0a0"));
}

TEST_CASE("recipes are for one platform and one CUDA", "[redist]") {
    const auto arm = make("cuda_cudart", {}, "linux-aarch64", {});
    CHECK(arm.recipe.variants == "cuda_version: [\"12.9\"]\narm_variant_type: [sbsa]\n");
    CHECK(arm.output("cuda-cudart").requirements.run.back() == "arm-variant * sbsa");
    CHECK(takers(arm, "targets/sbsa-linux/include/x.h") == "cuda-cudart-dev");
    CHECK(arm.output("cuda-cudart").build_string !=
          make("cuda_cudart", {}, "linux-64", {}).output("cuda-cudart").build_string);
    CHECK(arm.output("cuda-cudart").about.license_files == Texts{"LICENSE"});
}

}  // namespace component_recipe_test
