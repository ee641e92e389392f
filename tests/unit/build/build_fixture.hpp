#pragma once

// Building small recipes in tests.

#include "libcore/build/builder.hpp"
#include "libcore/package/unpack.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>

namespace gpkg::testing {

/// Recipes built in a temporary folder.
struct BuildFixture {
    TemporaryFolder folder = TemporaryFolder::make(fs::temp_directory_path()).value();
    BuildOptions options;

    BuildFixture() {
        options.channel = at("channel");
        options.work = at("work");
        options.timestamp = 1'700'000'000;
        options.zstd_level = 1;
        options.render.target_platform = "linux-64";
    }
    fs::path at(const std::string& name) const { return folder.path() / name; }
    void write(const std::string& name, const std::string& text) const {
        REQUIRE(write_file_atomically(at(name), text));
    }
    Result<std::vector<BuiltPackage>> build(const std::string& recipe) const {
        write("r/recipe.yaml", recipe);
        auto summary = build_all({at("r/recipe.yaml")}, options);
        if (!summary) return pass(summary.error());
        if (!summary->failures.empty()) return pass(summary->failures.front().error);
        return std::move(summary->packages);
    }
    BuiltPackage one(const std::string& recipe) const {
        const auto built = build(recipe);
        if (!built) FAIL(built.error().to_string());
        REQUIRE(built->size() == 1);
        return built->front();
    }
    fs::path unpacked(const BuiltPackage& package, const std::string& name = "x") const {
        fs::remove_all(at(name));
        const auto done = unpack_package(package.file, at(name));
        if (!done) FAIL(done.error().to_string());
        CHECK(done->warnings.empty());
        return at(name);
    }
    std::string error(const std::string& recipe) const {
        const auto built = build(recipe);
        return built ? "no error" : built.error().message;
    }
};

inline const std::string kHead = "package: {name: a, version: '1'}\n";

/// A solver that has these packages and no others. Each puts lib/lib<name>.so into the prefix.
inline SolveEnvironment offering(const std::vector<EnvironmentPackage>& packages) {
    return [packages](const std::vector<std::string>& specs) -> Result<SolvedEnvironment> {
        std::vector<EnvironmentPackage> chosen;
        SolvedEnvironment solved;
        for (const auto& package : packages) {
            const auto names_it = [&](const auto& spec) {
                return spec.substr(0, spec.find(' ')) == package.name;
            };
            if (std::none_of(specs.begin(), specs.end(), names_it)) continue;
            chosen.push_back(package);
            solved.packages.push_back(package.name + "-" + package.version + ".conda 1");
        }
        solved.make = [chosen](const fs::path& prefix,
                               const fs::path&) -> Result<std::vector<EnvironmentPackage>> {
            for (const auto& [name, version, build, exports, subdir, sum] : chosen)
                GPKG_CHECK(write_file_atomically(prefix / ("lib/lib" + name + ".so"), name));
            return chosen;
        };
        return solved;
    };
}

inline EnvironmentPackage zlib(const std::string& version = "1.2.13") {
    EnvironmentPackage package{"zlib", version, "h0_0"};
    package.run_exports.weak = {"libzlib >=1.2"};
    return package;
}

}  // namespace gpkg::testing
