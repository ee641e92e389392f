#include "libcore/build/build_place.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/build/payload.hpp"
#include "libcore/build/script/sandbox.hpp"
#include "libcore/fs/temporary.hpp"

#include <fmt/format.h>

namespace gpkg {

std::string build_name(const Recipe& recipe, const RenderedOutput& output) {
    constexpr std::size_t kDigits = 8;
    if (!output.is_staging) return output.distribution();
    const auto digest = hex_digest(DigestKind::Sha256, recipe.file.native());
    return fmt::format("{}-{}", output.distribution(), digest.substr(0, kDigits));
}

const RenderedOutput& outermost(const RenderedOutput& output) {
    const auto* at = &output;
    while (at->inherited) at = at->inherited.get();
    return *at;
}

Result<BuildPlace> BuildPlace::of(const Recipe& recipe,
                                  const RenderedOutput& output,
                                  const BuildOptions& options) {
    std::error_code code;
    GPKG_CHECK(make_folders(options.build_root() / "builds"));
    GPKG_CHECK(make_folders(options.work / "logs"));
    // Scripts ask for the real path of where they are; it must be the prefix they are given.
    const auto root = fs::canonical(options.build_root(), code);
    BuildPlace place;
    place.folder = root / "builds" / build_name(recipe, outermost(output));
    GPKG_TRY(place.prefix, build_prefix_below(place.folder));
    place.build_prefix =
        output.build.merge_build_and_host ? place.prefix : place.folder / "build_env";
    place.work = place.folder / "work";
    place.log = fs::canonical(options.work, code) / "logs" / (build_name(recipe, output) + ".log");
    place.seen = {place.folder, place.prefix, place.build_prefix, place.work};
    if (options.sandbox) {
        const fs::path folder(kSandboxFolder);
        const fs::path prefix(canonical_placeholder());
        place.seen = {folder,
                      prefix,
                      output.build.merge_build_and_host ? prefix : folder / "build_env",
                      folder / "work"};
    }
    return place;
}

Result<void> BuildPlace::clear() const {
    GPKG_CHECK(write_file_atomically(log, ""));
    GPKG_CHECK(remove());
    for (const auto& each : {prefix, build_prefix, work, folder / "home", folder / "tmp"})
        GPKG_CHECK(make_folders(each));
    return {};
}

Result<void> BuildPlace::remove() const {
    if (remove_tree(folder)) return {};
    // Scripts may leave folders that nobody may write into, which then cannot be emptied.
    std::error_code code;
    fs::permissions(folder, fs::perms::owner_all, fs::perm_options::add, code);
    fs::recursive_directory_iterator walk(folder, code);
    while (!code && walk != fs::recursive_directory_iterator()) {
        std::error_code ignored;
        if (walk->symlink_status(ignored).type() == fs::file_type::directory)
            fs::permissions(walk->path(), fs::perms::owner_all, fs::perm_options::add, ignored);
        walk.increment(code);
    }
    return remove_tree(folder);
}

}  // namespace gpkg
