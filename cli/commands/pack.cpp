#include "libcore/image/pack.hpp"

#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/options.hpp"
#include "cli/workflow/delivery/imaging.hpp"
#include "libcore/base/text.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

namespace gpkg::cli {
namespace {

/// The archive is a tar of zstd, whatever its name says.
Result<void> check_archive_name(const std::string& output) {
    constexpr auto kOthers =
        std::to_array<std::string_view>({".gz", ".tgz", ".bz2", ".xz", ".lz4", ".zip"});
    const bool is_other =
        std::ranges::any_of(kOthers, [&](std::string_view end) { return output.ends_with(end); });
    if (!is_other) return {};
    auto stem = fs::path(output).replace_extension();
    if (stem.extension() == ".tar") stem.replace_extension();
    return fail(ErrorKind::Usage,
                fmt::format("-o {}: pack writes zstd", output),
                fmt::format("name it {}.tar.zst", stem.native()));
}

Result<int> pack(Context& context, const ImagedOptions& options) {
    GPKG_CHECK(check_archive_name(options.output));
    GPKG_TRY(auto made, imaged(context, options));
    GPKG_CHECK(add_other_files(context, made, kPackedPrefix));
    GPKG_CHECK(write_packed(context, made, options.level));

    std::error_code ignored;
    const auto size = fs::file_size(made.output, ignored);
    GPKG_TRY(const auto sha256, sha256_of_file(made.output));
    if (context.out.json_mode()) {
        context.out.json({{"success", true},
                          {"pack", made.output.native()},
                          {"size", size},
                          {"sha256", sha256},
                          {"packages", made.environment.link.size()}});
        return 0;
    }
    context.out.print(fmt::format("{}: {}, {}, sha256 {}",
                                  made.output.native(),
                                  count_text(made.environment.link.size(), "package"),
                                  human_size(size),
                                  sha256));
    context.out.print(
        fmt::format("to unpack: mkdir {0} && tar -xf {1} -C {0} && {0}/bin/gpkg-relocate",
                    shell_word(made.name),
                    shell_word(made.output.native())));
    return 0;
}

}  // namespace

Action bind_pack(CLI::App& app) {
    const auto options = std::make_shared<ImagedOptions>();
    add_imaged_options(app, *options);
    app.get_option("--for")->description(
        "machine to take the packages of --from-lock for: a profile, or a name listed by `gpkg "
        "hardware list`");
    options->replaceable = kZstdMagic;
    options->suffix = ".tar.zst";
    app.footer(
        "Writes a .tar.zst archive that works without gpkg on another machine. Sourcing "
        "bin/activate or running bin/gpkg-relocate adapts its files to the folder they are in.\n\n"
        "  gpkg pack -n ml -o ml.tar.zst\n"
        "  mkdir ml && tar -xf ml.tar.zst -C ml && . ml/bin/activate");

    return [options](Context& context) { return pack(context, *options); };
}

}  // namespace gpkg::cli
