#include "libcore/indexing/variant_lint.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/corpus.hpp"

#include <nlohmann/json.hpp>

namespace fs = gpkg::fs;
using Json = nlohmann::json;

namespace variant_lint_test {
namespace {

/// Builds of foo 1, as an index has them.
struct Builds {
    std::map<std::string, gpkg::IndexedPackage> packages;

    void add_record(const std::string& file, const Json& record, const std::string& used = "{}") {
        auto& package = packages[file];
        package.record = record.dump();
        package.run_exports = "{}";
        package.variant = used;
    }
    void add(const std::string& build,
             const Json& depends,
             const Json& more = Json::object(),
             const std::string& used = "{}") {
        Json record{{"name", "foo"},
                    {"version", "1"},
                    {"build", build},
                    {"build_number", 0},
                    {"depends", depends},
                    {"license", "MIT"}};
        record.update(more);
        add_record("foo-" + record.at("version").get<std::string>() + "-" + build + ".conda",
                   record,
                   used);
    }
    std::vector<std::string> found() const {
        std::vector<std::string> texts;
        const gpkg::PublishedSubdir subdir("linux-64", packages, {}, {}, 1);
        for (const auto& [name, group] : gpkg::group_by_name(subdir)) {
            const auto findings = gpkg::lint_variants(group);
            CHECK(gpkg::findings_from_json(gpkg::to_json(findings)) == findings);
            for (const auto& finding : findings) texts.push_back(finding.text);
        }
        return texts;
    }
};

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("builds for other hardware that need something else are found", "[build]") {
    Builds builds;
    builds.add("cpu_py312_h1111111_0", {"python_abi 3.12.* *_cp312", "libpng", "zlib"});
    builds.add(
        "cuda129_py312_h2222222_200",
        {"__cuda", "cuda-version >=12.9,<13", "libcublas", "python_abi 3.12.* *_cp312", "zlib"},
        {{"build_number", 200}, {"license", "GPL-3.0-only"}});
    CHECK(builds.found() ==
          Texts{"libpng is needed by foo-1-cpu_py312_h1111111_0.conda but not by "
                "foo-1-cuda129_py312_h2222222_200.conda",
                "license is MIT in foo-1-cpu_py312_h1111111_0.conda but GPL-3.0-only in "
                "foo-1-cuda129_py312_h2222222_200.conda"});
}

TEST_CASE("keys of gpkg's schema are of hardware, but for those of libraries", "[build]") {
    struct Row {
        std::string key, one, other;
        bool is_hardware;
    };
    const auto row = GENERATE(values<Row>({
        {"accel", "cpu", "cuda", true},
        {"cuda_version", "12.9", "13.0", true},
        {"cuda_arch_list", "8.0", "9.0", true},
        {"rocm_version", "6.3", "6.4", true},
        {"gfx_list", "gfx90a", "gfx942", true},
        {"psabi", "x86_64_v2", "x86_64_v3", true},
        {"blas", "mkl", "openblas", false},
        {"mpi", "nompi", "openmpi", false},
    }));
    CAPTURE(row.key);
    Builds builds;
    const auto used = [&](const std::string& value) { return Json{{row.key, value}}.dump(); };
    builds.add("h1111111_0", {"zlib"}, {{"license", "MIT"}}, used(row.one));
    builds.add("h2222222_0", {"libpng", "zlib"}, {{"license", "BSD-3-Clause"}}, used(row.other));
    CHECK(builds.found().size() == (row.is_hardware ? 2 : 0));
}

TEST_CASE("builds that differ in more than hardware, or in nothing known, are not compared",
          "[build]") {
    Builds builds;
    builds.add("cpu_h1111111_0", {"zlib", "libpng"});
    SECTION("another Python") {
        builds.add("cuda129_py310_h2222222_0", {"__cuda", "python >=3.10,<3.11.0a0"});
    }
    SECTION("another MPI") { builds.add("cuda129_mpich_h2222222_0", {"__cuda", "mpich"}); }
    SECTION("another word, before a hash") {
        builds.add("cuda129gplh2222222_0", {"__cuda", "gsl"});
    }
    SECTION("another build number") {
        builds.add("cuda129_h2222222_1", {"__cuda"}, {{"build_number", 1}});
    }
    SECTION("another version") { builds.add("cuda129_h2222222_0", {"__cuda"}, {{"version", "2"}}); }
    SECTION("no other hardware") { builds.add("cpu_h2222222_0", {"zlib"}); }
    SECTION("only hardware") {
        builds.add("cuda129_h2222222_0",
                   {"__cuda", "libcublas", "cudnn", "libpng", "zlib", "triton", "_openmp_mutex"});
    }
    SECTION("others for the same hardware do not agree") {
        builds.add("cuda129_h2222222_0", {"__cuda", "zlib"});
        builds.add("cuda129_h3333333_0", {"__cuda", "zlib", "libpng"});
    }
    CHECK(builds.found().empty());
}

TEST_CASE("what packages were built with tells variants apart", "[build]") {
    Builds builds;
    const auto other_ssl = GENERATE(false, true);
    builds.add("h1111111_0",
               {"openssl", "zlib"},
               Json::object(),
               R"({"cuda_compiler_version": "None", "openssl": "3", "c_compiler_version": "13"})");
    builds.add("h2222222_0",
               {"__cuda", "zlib"},
               Json::object(),
               Json{{"cuda_compiler_version", "12.9"},
                    {"openssl", other_ssl ? "1.1" : "3"},
                    {"c_compiler_version", "14"}}
                   .dump());
    CHECK(builds.found() == (other_ssl
                                 ? Texts{}
                                 : Texts{"openssl is needed by foo-1-h1111111_0.conda but not by "
                                         "foo-1-h2222222_0.conda"}));
}

TEST_CASE("real channels cause no false alarm", "[build]") {
    const auto corpus = gpkg::tests::corpus();
    if (!corpus) {
        WARN("skipped: GPKG_TEST_CORPUS is not set");
        return;
    }
    // These were looked at: torchvision's cu116 builds need python_abi, its cu113 builds do not.
    const std::map<std::string, std::size_t> known{{"pytorch", 8}};
    for (const auto* channel : {"conda-forge", "pytorch", "nvidia", "rapidsai", "bioconda"}) {
        const auto file = *corpus / channel / "linux-64/repodata.json.zst";
        const auto text = gpkg::zstd_decompress(gpkg::read_file(file).value(), "zst", 0).value();
        const auto json = Json::parse(text);
        Builds builds;
        for (const auto* key : {"packages", "packages.conda"}) {
            for (const auto& [name, record] : json.at(key).items()) builds.add_record(name, record);
        }
        const auto found = builds.found();
        CAPTURE(channel, found);
        CHECK(found.size() == (known.contains(channel) ? known.at(channel) : 0));
    }
}

}  // namespace variant_lint_test
