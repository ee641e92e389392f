#include "cli/commands/lock.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

namespace gpkg::cli::locks {
namespace {

using Json = nlohmann::ordered_json;

struct LockConvertOptions {
    std::string file;
    std::string to;
    bool dry_run = false;
};

Result<LockFormat> format_for(const std::string& path) {
    if (const auto format = format_of_name(path)) return *format;
    return fail(ErrorKind::Usage,
                fmt::format("{}: the name does not tell which format is meant", path),
                "pixi.lock, conda-lock.yml or gpkg.lock");
}

bool has_restrictions(const LockFile& lock) {
    return std::any_of(lock.packages.begin(), lock.packages.end(), [](const auto& package) {
        const auto& texts = package.record.constrains;
        return std::any_of(
            texts.begin(), texts.end(), [](const auto& text) { return text.starts_with("__"); });
    });
}

Result<int> convert(Context& context, const LockConvertOptions& options) {
    GPKG_TRY(const auto format, format_for(options.to));
    GPKG_TRY(const auto found, read(context, options.file));
    const auto& request = found.lock.request;
    if (format != LockFormat::Gpkg &&
        !(request.pip.empty() && request.variables.empty() && request.accelerator.empty()))
        context.out.warn(fmt::format(
            "{} cannot hold what was asked for: variables, an accelerator and what is left to pip "
            "are not in it",
            name_of(format)));
    if (format == LockFormat::CondaLock && has_restrictions(found.lock))
        context.out.warn(
            "conda-lock.yml has no words for what packages restrict (constrains): which machines a "
            "class is for is known less well from it");
    if (!options.dry_run) GPKG_CHECK(write_lock(found.lock, format, options.to));
    if (context.out.json_mode()) {
        context.out.json(Json{{"success", true}, {"file", options.to}});
    } else {
        context.out.print(fmt::format(
            "{} {}, {}", options.dry_run ? "would write" : "wrote", options.to, name_of(format)));
    }
    return 0;
}

}  // namespace

std::optional<LockFormat> format_of_name(const std::string& path) {
    const auto name = fs::path(path).filename().native();
    if (name == "pixi.lock") return LockFormat::Pixi7;
    if (name.find("conda-lock") != std::string::npos &&
        (name.ends_with(".yml") || name.ends_with(".yaml")))
        return LockFormat::CondaLock;
    if (name.ends_with("gpkg.lock")) return LockFormat::Gpkg;
    return std::nullopt;
}

Action bind_convert(CLI::App& app) {
    const auto options = std::make_shared<LockConvertOptions>();
    app.add_option("file", options->file)->type_name("FILE")->required();
    app.add_option("to", options->to, "pixi.lock, conda-lock.yml or gpkg.lock")
        ->type_name("FILE")
        ->required();
    app.add_flag("-d,--dry-run", options->dry_run, "only tell what would be written");
    return [=](Context& context) { return convert(context, *options); };
}

}  // namespace gpkg::cli::locks
