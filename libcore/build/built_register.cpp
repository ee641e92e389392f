#include "libcore/base/digest.hpp"
#include "libcore/build/metadata.hpp"
#include "libcore/build/output_build.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

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
    return options_.work / "built" / output.subdir / output.file_name();
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

}  // namespace gpkg
