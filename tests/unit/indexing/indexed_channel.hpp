#pragma once

// A channel of small packages, to be indexed.

#include "libcore/indexing/indexer.hpp"
#include "libcore/package/write.hpp"
#include "tests/support/catch.hpp"

#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace fs = gpkg::fs;
using Json = nlohmann::json;

namespace gpkg::tests {

struct Channel {
    gpkg::TemporaryFolder folder = gpkg::TemporaryFolder::make(fs::temp_directory_path()).value();
    IndexerOptions options;

    Channel() { options.timestamp = 1000; }
    fs::path at(const std::string& name) const { return folder.path() / name; }

    fs::path add(const Json& more,
                 const std::string& subdir = "linux-64",
                 bool bz2 = false,
                 const std::string& used = R"({"target_platform": "linux-64"})",
                 const std::map<std::string, std::string>& info = {}) const {
        Json index{{"name", "a"},
                   {"version", "1"},
                   {"build", "h0_0"},
                   {"build_number", 0},
                   {"depends", {"b >=1"}},
                   {"subdir", subdir},
                   {"custom_field", "kept"}};
        if (more.is_object()) index.update(more);
        gpkg::PackageContent content;
        content.folder = at("payload");
        fs::create_directories(content.folder);
        content.info = {{"index.json", index.dump()},
                        {"paths.json", R"({"paths": [], "paths_version": 1})"},
                        {"run_exports.json", R"({"weak": ["a >=1"]})"},
                        {"hash_input.json", used}};
        for (const auto& [name, text] : info) content.info[name] = text;
        const auto file = bz2 ? gpkg::write_tar_bz2(content, at("c/" + subdir), {})
                              : gpkg::write_conda(content, at("c/" + subdir), {});
        if (!file) FAIL(file.error().to_string());
        return *file;
    }
    gpkg::IndexSummary index() const {
        const auto summary = gpkg::index_channel(at("c"), options);
        if (!summary) FAIL(summary.error().to_string());
        return *summary;
    }
    std::string text(const std::string& name) const { return gpkg::read_file(at(name)).value(); }
    Json json(const std::string& name) const { return Json::parse(text(name)); }
};

}  // namespace gpkg::tests
