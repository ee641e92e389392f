#include "cli/workflow/build/request.hpp"

#include "cli/workflow/build/environments.hpp"
#include "cli/workflow/settings.hpp"
#include "libcore/base/byte_size.hpp"
#include "libcore/base/number.hpp"
#include "libcore/build/find_recipes.hpp"
#include "libcore/build/script/sandbox.hpp"
#include "libcore/fs/file.hpp"
#include "libcore/net/get.hpp"
#include "libcore/net/transport.hpp"

#include <chrono>
#include <fmt/format.h>
#include <thread>

namespace gpkg::cli {
namespace {

/// FROM=TO of --source-mirror.
Result<std::pair<std::string, std::string>> mirror_of(const std::string& text) {
    const auto mark = text.find('=');
    auto from = text.substr(0, mark);
    if (mark == std::string::npos || from.find("://") == std::string::npos ||
        text.find("://", mark) == std::string::npos)
        return fail(ErrorKind::Usage,
                    fmt::format("--source-mirror {}: expected FROM=TO, both URLs", text),
                    "for example --source-mirror https://example.org/=file:///srv/mirror/");
    return std::pair{std::move(from), text.substr(mark + 1)};
}

}  // namespace

Result<std::vector<fs::path>> recipe_files(const Context& context,
                                           const std::vector<std::string>& texts) {
    std::vector<fs::path> files;
    for (const auto& text : texts) {
        const auto path = absolute_path(text, context.home);
        if (!fs::exists(path))
            return fail(ErrorKind::NotFound,
                        fmt::format("{}: no such file or folder", path.native()),
                        near_files(path).empty() ? "name a recipe.yaml or its folder" : "");
        const std::string other_format = "meta.yaml is conda-build's format; write a recipe.yaml";
        if (path.filename() == "meta.yaml")
            return fail(ErrorKind::Unsupported,
                        fmt::format("{}: not a recipe.yaml", path.native()),
                        other_format);
        if (!fs::is_directory(path)) {
            files.push_back(path);
            continue;
        }
        GPKG_TRY(const auto found, find_recipes(path));
        if (found.empty())
            return fail(ErrorKind::NotFound,
                        fmt::format("{}: no recipe.yaml in this folder or below", path.native()),
                        fs::exists(path / "meta.yaml") ? other_format : "");
        files.insert(files.end(), found.begin(), found.end());
    }
    return files;
}

fs::path channel_of(const Context& context, const BuildRequest& request) {
    return absolute_path(request.channel, context.home);
}

fs::path work_folder_of(const Context& context, const BuildRequest& request) {
    if (!request.work.empty()) return absolute_path(request.work, context.home);
    return channel_of(context, request).native() + ".work";
}

Result<bool> sandbox_of(Context& context, const std::string& wish) {
    if (wish == "off") return false;
    const auto lack = why_no_sandbox();
    if (!lack) return true;
    if (wish == "required")
        return fail(ErrorKind::Unsupported, fmt::format("--sandbox required: {}", *lack));
    context.out.warn(
        fmt::format("building without a sandbox: scripts can use the network and undeclared files: "
                    "{}",
                    *lack));
    return false;
}

Result<BuildOptions> build_options(Context& context,
                                   const BuildRequest& request,
                                   const fs::path& work,
                                   BuildSources& sources,
                                   Progress& progress) {
    BuildOptions build;
    build.channel = channel_of(context, request);
    build.work = work;
    build.staging = sources.staging();
    GPKG_TRY(build.render, render_options(context, request.sources, request.variants));
    if (const auto epoch = context.env("SOURCE_DATE_EPOCH")) {
        const auto seconds = whole_number<std::int64_t>(*epoch);
        if (!seconds)
            return fail(ErrorKind::Usage,
                        fmt::format("SOURCE_DATE_EPOCH={}: not a number of seconds", *epoch));
        build.timestamp = *seconds;
    }
    build.format = request.format == "tar-bz2" ? PackageFormat::TarBz2 : PackageFormat::Conda;
    build.zstd_level = request.zstd_level;
    build.jobs = request.jobs > 0
                     ? request.jobs
                     : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    build.rebuild = request.rebuild || request.verify;
    if (request.verify && !build.timestamp)
        build.reproduce_at = std::chrono::duration_cast<std::chrono::seconds>(
                                 std::chrono::system_clock::now().time_since_epoch())
                                 .count();
    build.keep_work = request.keep_work;
    build.network = request.network;
    build.offline = request.sources.offline;
    if (!request.source_cache.empty())
        build.source_cache = absolute_path(request.source_cache, context.home);
    for (const auto& text : request.mirrors) {
        GPKG_TRY(auto mirror, mirror_of(text));
        build.mirrors.push_back(std::move(mirror));
    }
    build.cancelled = [&context] { return context.stop.stop_requested(); };
    build.fetch = [&context](const std::string& url, const fs::path& target) -> Result<void> {
        GPKG_TRY(const auto transport, open_transport(context));
        GetRequest wanted;
        wanted.url = url;
        wanted.into = target;
        wanted.most_bytes = std::uint64_t{1} << 40U;
        TransferOptions how;
        how.stop = context.stop;
        GPKG_CHECK(get(*transport, wanted, how));
        return {};
    };
    build.solve_environment = [&](const std::vector<std::string>& specs) {
        return solve_environment(context, sources, specs);
    };
    build.report = [&context, &progress](const BuildEvent& event) {
        if (event.kind == BuildEvent::Kind::Started) return;
        if (event.kind == BuildEvent::Kind::Waiting) {
            progress.clear();
            context.out.note(fmt::format("waiting for {}", event.what));
            return;
        }
        if (event.kind == BuildEvent::Kind::Built && context.out.verbose())
            context.out.note("built " + event.what);
        progress.count("building", event.done, event.total, "packages");
    };
    return build;
}

Result<std::optional<std::uint64_t>> closure_limit(const BuildRequest& request) {
    if (request.max_closure.empty()) return std::nullopt;
    auto parsed = parse_byte_size(request.max_closure);
    if (!parsed) return pass(std::move(parsed).error().while_doing("--max-closure"));
    return *parsed;
}

}  // namespace gpkg::cli
