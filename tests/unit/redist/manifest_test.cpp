// NVIDIA's manifests: what is read of them, and what they get wrong.

#include "libcore/redist/manifest.hpp"

#include "tests/support/catch.hpp"

#include <fmt/format.h>

namespace manifest_test {
namespace {

const std::string kSum(64, 'a');

/// A manifest of one component "foo" with this text for its linux-x86_64.
std::string manifest_of(const std::string& platform) {
    return R"({"release_label": "12.9.1", "release_product": "cuda",
               "foo": {"name": "Foo", "license": "MIT", "version": "1.2", "linux-x86_64": )" +
           platform + "}}";
}

std::string archive(const std::string& more = R"("size": "12")") {
    return fmt::format(R"({{"relative_path": "foo/foo.tar.xz", "sha256": "{}", {}}})", kSum, more);
}

}  // namespace

TEST_CASE("a manifest", "[redist]") {
    const auto manifest = gpkg::parse_redist_manifest(
        fmt::format(R"json({{"release_date": "2025-06-05", "release_label": "13.2.1",
            "release_product": "cuda",
            "cuda_cudart": {{"name": "CUDA Runtime (cudart)", "license": "CUDA Toolkit",
               "license_path": "cuda_cudart/LICENSE.txt", "version": "13.2.75",
               "linux-x86_64": {0}, "linux-sbsa": {0}, "windows-x86_64": {{"odd": 1}} }},
            "cuda_compat": {{"name": "compat", "license": "CUDA Toolkit", "version": "595.5",
               "cuda_variant": ["13.2"], "linux-sbsa": {{"cuda13.2": {0}}} }},
            "script": {{"version": "1", "linux-all": {0}}} }})json",
                    archive()),
        "redistrib_13.2.1.json");
    if (!manifest) FAIL(manifest.error().to_string());
    CHECK(manifest->components.size() == 3);
    CHECK(manifest->default_base() == "https://developer.download.nvidia.com/compute/cuda/redist/");

    const auto cudart = manifest->component("cuda-cudart");
    REQUIRE(cudart);
    CHECK((*cudart)->title == "CUDA Runtime (cudart)");
    CHECK((*cudart)->archives.size() == 2);
    const auto choice = gpkg::choose_archive(*manifest, **cudart, "linux-x86_64", "");
    REQUIRE(choice);
    CHECK(choice->archive.size == 12U);
    CHECK(choice->archive.path == "foo/foo.tar.xz");
    CHECK(gpkg::cuda_version_of(*manifest, *choice) == "13.2");
    // A choice of variant says nothing of components without them.
    CHECK(gpkg::choose_archive(*manifest, **cudart, "linux-x86_64", "12"));

    const auto& compat = *manifest->find("cuda_compat");
    CHECK(gpkg::choose_archive(*manifest, compat, "linux-sbsa", "")->variant == "cuda13.2");
    CHECK(gpkg::choose_archive(*manifest, compat, "linux-x86_64", "").error().message ==
          "redistrib_13.2.1.json: no archive of cuda_compat for linux-x86_64");
    CHECK(gpkg::choose_archive(*manifest, *manifest->find("script"), "linux-x86_64", ""));

    const auto unknown = manifest->component("cuda_cudarrt");
    REQUIRE_FALSE(unknown);
    CHECK(unknown.error().hint == "did you mean cuda_cudart?");
}

TEST_CASE("variants of a component", "[redist]") {
    auto text = manifest_of(fmt::format(R"({{"cuda11": {0}, "cuda12": {0}}})", archive()));
    text.replace(text.find("\"cuda\""), 6, "\"cudnn\"");
    const auto manifest = gpkg::parse_redist_manifest(text, "m.json").value();
    const auto& foo = manifest.components.front();
    const auto none = gpkg::choose_archive(manifest, foo, "linux-x86_64", "");
    REQUIRE_FALSE(none);
    CHECK(none.error().message ==
          "m.json: foo has several variants for linux-x86_64: cuda11 and cuda12");
    CHECK(none.error().hint == "use --cuda-variant cuda12");
    for (const auto* word : {"12", "cuda12"}) {
        const auto choice = gpkg::choose_archive(manifest, foo, "linux-x86_64", word);
        REQUIRE(choice);
        CHECK(gpkg::cuda_version_of(manifest, *choice) == "12");
    }
    CHECK(gpkg::choose_archive(manifest, foo, "linux-x86_64", "13").error().message ==
          "m.json: foo has no variant '13' for linux-x86_64, only cuda11 and cuda12");
}

TEST_CASE("older manifests tell their version by their name", "[redist]") {
    const auto text = R"({"foo": {"version": "1", "linux-x86_64": )" + archive() + "}}";
    const auto label = [&](const std::string& name) {
        return gpkg::parse_redist_manifest(text, name)->label;
    };
    CHECK(label("/a/redistrib_11.8.0.json") == "11.8.0");
    CHECK(label("https://x.org/redist/redistrib_11.8.0.json?a=b") == "11.8.0");
    CHECK(label("other.json").empty());
}

TEST_CASE("what is no manifest", "[redist]") {
    struct Row {
        std::string text, expected;
    };
    // clang-format off
    const std::vector<Row> rows = {
        {"", "m.json: not a redistributables manifest: not a JSON object"},
        {"[]", "not a JSON object"},
        {"{}", "not a redistributables manifest: no components"},
        {R"({"release_label": "1"})", "not a redistributables manifest: no components"},
        {R"({"release_label": 1})", "'release_label' must be a string, not number"},
        {R"({"release_product": "../x"})", "invalid 'release_product': ../x"},
        {R"({"../foo": {"version": "1"}})", "../foo: invalid component name"},
        {R"({"foo": {"version": "1/2"}})", "foo: invalid 'version': '1/2'"},
        {R"({"foo": {"version": 1}})", "foo: 'version' must be a string, not number"},
        {R"({"foo": {}})", "foo: invalid 'version': ''"},
        {manifest_of(R"({"relative_path": "../x"})"), "foo: invalid 'relative_path': '../x' is not below"},
        {manifest_of(R"({"relative_path": "x", "sha256": "12"})"), "foo: invalid 'sha256': '12'"},
        {manifest_of(archive(R"("size": "12 MB")")), "foo: invalid 'size': '12 MB' is not a number of bytes"},
        {manifest_of(archive(R"("size": -1)")), "foo: invalid 'size': '-1' is not a number of bytes"},
        {manifest_of(R"({"path": "x"})"), "foo: linux-x86_64 has neither 'relative_path' nor variants"},
    };
    // clang-format on
    for (const auto& row : rows) {
        CAPTURE(row.text);
        const auto manifest = gpkg::parse_redist_manifest(row.text, "m.json");
        REQUIRE_FALSE(manifest);
        CHECK_THAT(manifest.error().message, ContainsSubstring(row.expected));
    }
    CHECK(gpkg::parse_redist_manifest(manifest_of(archive(R"("size": 12)")), "m.json"));
}

TEST_CASE("platforms", "[redist]") {
    CHECK(gpkg::redist_platform("linux-64", false) == "linux-x86_64");
    CHECK(gpkg::redist_platform("linux-aarch64", false) == "linux-sbsa");
    CHECK(gpkg::redist_platform("linux-aarch64", true) == "linux-aarch64");
    CHECK_FALSE(gpkg::redist_platform("linux-64", true));
    CHECK_FALSE(gpkg::redist_platform("osx-arm64", false));
}

}  // namespace manifest_test
