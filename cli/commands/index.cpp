#include "cli/command.hpp"
#include "cli/context.hpp"
#include "libcore/build/indexer.hpp"
#include "libcore/spec/names.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

namespace gpkg::cli {

Action bind_index(CLI::App& app) {
    const auto folder = std::make_shared<std::string>();
    app.add_option("folder", *folder, "the channel's folder, which holds linux-64/, noarch/ ...")
        ->required();
    app.footer(
        "Writes, for each subdir, repodata.json and run_exports.json, and variants.json: what each "
        "package was built with, which gpkg variants shows. repodata.json and variants.json also "
        "as "
        ".zst.\n"
        "  gpkg index ./channel");

    return [folder](Context& context) -> Result<int> {
        const auto channel = absolute_path(*folder, context.home);
        if (!fs::is_directory(channel))
            return fail(ErrorKind::NotFound, fmt::format("{}: is no folder", channel.native()));
        if (is_known_subdir(channel.filename().native()))
            return fail(
                ErrorKind::Usage,
                fmt::format("{}: is one subdir of a channel, not the channel", channel.native()),
                fmt::format("gpkg index {}", channel.parent_path().native()));
        IndexerOptions options;
        options.jobs = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
        options.cancelled = [&] { return context.stop.stop_requested(); };
        GPKG_TRY(const auto summary, index_channel(channel, options));

        nlohmann::ordered_json subdirs;
        for (const auto& subdir : summary.subdirs) {
            context.out.print(fmt::format(
                "{}: {} packages, {} read", subdir.subdir, subdir.packages, subdir.read));
            subdirs[subdir.subdir] = {{"packages", subdir.packages}, {"read", subdir.read}};
        }
        auto refused = nlohmann::ordered_json::array();
        for (const auto& package : summary.refused) {
            context.out.warn(
                fmt::format("{}: left out: {}", package.file.native(), package.reason));
            refused.push_back({{"file", package.file.native()}, {"reason", package.reason}});
        }
        auto warnings = nlohmann::ordered_json::array();
        for (const auto& package : summary.odd) {
            context.out.warn(fmt::format(
                "{}: {}: left out of variants.json", package.file.native(), package.reason));
            warnings.push_back({{"file", package.file.native()}, {"reason", package.reason}});
        }
        if (context.out.json_mode())
            context.out.json({{"success", summary.refused.empty()},
                              {"channel", channel.native()},
                              {"subdirs", std::move(subdirs)},
                              {"refused", std::move(refused)},
                              {"warnings", std::move(warnings)}});
        return summary.refused.empty() ? 0 : 1;
    };
}

}  // namespace gpkg::cli
