#include "cli/commands/info_environment.hpp"

#include "cli/environments.hpp"
#include "cli/table.hpp"
#include "cli/workflow/settings_change.hpp"
#include "libcore/asking/earlier_wishes.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/environments.hpp"
#include "libcore/hardware/variant_columns.hpp"
#include "libcore/net/url.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <utility>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

Result<EnvironmentFacts> environment_facts(const fs::path& path) {
    EnvironmentFacts facts;
    facts.path = path;
    GPKG_TRY(const auto prefix, Prefix::open(path));
    GPKG_TRY(const auto records, prefix.records());
    GPKG_TRY(facts.pins, prefix.pinned_specs());
    GPKG_TRY(facts.state, prefix.state());
    facts.packages = records.size();
    std::vector<PackageRecord> packages;
    packages.reserve(records.size());
    for (const auto& record : records) packages.push_back(record.package);
    facts.gpu_builds = gpu_builds(packages);
    facts.requested = wishes_of(path).size();
    return facts;
}

Json environment_document(const Context& context, const EnvironmentFacts& facts) {
    const auto& state = facts.state;
    Json json{{"name", environment_folders(context.config).name_of(facts.path)},
              {"prefix", facts.path.native()},
              {"packages", facts.packages},
              {"requested", facts.requested},
              {"accelerator", state.accelerator.empty() ? Json() : Json(state.accelerator)},
              {"package_accelerators", state.package_accelerators},
              {"pins", facts.pins},
              {"channels", Json::array()}};
    for (const auto& channel : state.channels) json["channels"].push_back(hide_secrets(channel));
    return json;
}

void print_environment(const Context& context, const EnvironmentFacts& facts) {
    Table table({0});
    table.may_wrap(1);
    const auto rows = [&](const char* name, const std::vector<std::string>& values) {
        for (std::size_t i = 0; i < values.size(); ++i)
            table.add({i == 0 ? name : "", (i == 0 ? ": " : "  ") + values[i]});
    };
    rows("environment", {environment_folders(context.config).name_of(facts.path)});
    rows("path", {facts.path.native()});
    rows("packages", {fmt::format("{} ({} requested)", facts.packages, facts.requested)});
    std::vector<std::string> accelerators{builds_text(facts.state.accelerator)};
    for (const auto& [name, accelerator] : facts.state.package_accelerators)
        accelerators.push_back(fmt::format("{}: {}", name, accelerator));
    rows("accelerator", accelerators);
    rows("GPU packages",
         {facts.gpu_builds.empty() ? "none"
                                   : join_some(facts.gpu_builds, "and", facts.gpu_builds.size())});
    rows("pins",
         {facts.pins.empty()
              ? "none"
              : fmt::format(
                    "{} (gpkg pins {})", facts.pins.size(), target_words(context, facts.path))});
    std::vector<std::string> channels;
    for (const auto& channel : facts.state.channels) channels.push_back(hide_secrets(channel));
    if (channels.empty()) channels.emplace_back("as configured");
    rows("packages from", channels);
    context.out.result(table);
}

}  // namespace gpkg::cli
