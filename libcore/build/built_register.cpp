#include "libcore/base/digest.hpp"
#include "libcore/build/metadata.hpp"
#include "libcore/build/output_build.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <system_error>

namespace gpkg {
namespace {

// Raised when the same inputs would make other bytes than before.
constexpr int kBuilderFormat = 1;

std::string stamp_of(const fs::path& file, const std::string& digest) {
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0) return {};
    return fmt::format("{}\n{}\n{}.{:09}\n",
                       digest,
                       status.st_size,
                       status.st_mtim.tv_sec,
                       status.st_mtim.tv_nsec);
}

/// <work>/<kind>/<subdir>/<file name>
fs::path below(const fs::path& work, std::string_view kind, const fs::path& package) {
    return work / kind / package.parent_path().filename() / package.filename();
}

}  // namespace

Result<std::string> input_digest(const Recipe& recipe,
                                 const RenderedOutput& output,
                                 const BuildOptions& options) {
    Hasher hasher(DigestKind::Sha256);
    const auto add = [&](std::string_view text) {
        hasher.update(std::to_string(text.size()));
        hasher.update(":");
        hasher.update(text);
    };
    add(fmt::format("{} {} zstd {} time {} cpus {}",
                    builder_version(),
                    kBuilderFormat,
                    options.zstd_level,
                    options.timestamp ? std::to_string(*options.timestamp) : "now",
                    options.cpu_count));
    add(recipe.text);
    add(rendered_recipe_text(output));
    add(output.extra_json);
    for (const auto& source : output.sources) {
        add(source.sha256);
        add(source.use_gitignore ? "ignore" : "all");
        if (!source.path.empty()) {
            GPKG_TRY(const auto tree, tree_digest(source.path));
            add(tree);
        }
        for (const auto& patch : source.patches) {
            GPKG_TRY(const auto text, read_file(patch));
            add(text);
        }
    }
    if (!output.build.script.file.empty()) {
        GPKG_TRY(const auto text, read_file(output.build.script.file));
        add(text);
    }
    for (const auto& name : output.about.license_files) {
        std::error_code code;
        const auto file = recipe.folder() / name;
        if (!fs::exists(file, code)) continue;
        GPKG_TRY(const auto tree, tree_digest(file));
        add(tree);
    }
    return std::move(hasher).hex();
}

fs::path BuiltRegister::note_of(const RenderedOutput& output) const {
    return below(options_.work, "built", package_of(output));
}

fs::path BuiltRegister::package_of(const RenderedOutput& output) const {
    return options_.channel / output.subdir / output.file_name();
}

bool BuiltRegister::holds(const RenderedOutput& output, const std::string& digest) const {
    const auto note = read_file(note_of(output));
    const auto stamp = stamp_of(package_of(output), digest);
    return note && !stamp.empty() && *note == stamp;
}

Result<void> BuiltRegister::remember(const RenderedOutput& output,
                                     const std::string& digest) const {
    return write_file_atomically(note_of(output), stamp_of(package_of(output), digest));
}

bool is_tested(const BuiltPackage& package, const fs::path& work) {
    const auto note = read_file(below(work, "tested", package.file));
    return note && *note == stamp_of(package.file, "tested");
}

Result<void> remember_tested(const BuiltPackage& package, const fs::path& work) {
    return write_file_atomically(below(work, "tested", package.file),
                                 stamp_of(package.file, "tested"));
}

Result<fs::path> withhold(const BuiltPackage& package, const fs::path& work) {
    auto place = below(work, "failed", package.file);
    GPKG_CHECK(make_folders(place.parent_path()));
    std::error_code code;
    fs::rename(package.file, place, code);
    if (code == std::errc::cross_device_link) {
        code.clear();
        fs::copy_file(package.file, place, fs::copy_options::overwrite_existing, code);
        if (!code) fs::remove(package.file, code);
    }
    if (code) return pass(io_error(package.file, "move to " + place.native(), code.value()));
    return place;
}

}  // namespace gpkg
