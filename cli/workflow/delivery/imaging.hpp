#pragma once

// What an image or an archive of an environment is made of: its packages in the store, and what
// belongs to none.

#include "cli/options.hpp"
#include "cli/workflow/change.hpp"
#include "cli/workflow/source_options.hpp"
#include "libcore/channel/channel.hpp"
#include "libcore/env/laid_out.hpp"
#include "libcore/image/image.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg::cli {

/// Which environment is meant: one that is there, or what a lock file has for the machine.
struct ImagedOptions {
    TargetOptions target;
    LockedOptions lock;  ///< without a file the target
    SourceOptions sources;
    std::string name;  ///< of the environment in the image; empty: as it is called, or as the file
    std::string output;  ///< empty: the environment's name with `suffix`, in the current folder
    std::string suffix{};
    std::optional<int> level{};  ///< of zstd, or of a layout's gzip
    /// What a file begins with that the output may replace; empty: none is replaced.
    std::string_view replaceable{};
};

/// What a squashfs image begins with.
inline constexpr std::string_view kSquashfsMagic = "hsqs";

/// --name, --prefix, --for, --from-lock, --environment, --level, --offline.
void add_imaged_sources(CLI::App& app, ImagedOptions& options);
/// The same with --output.
void add_imaged_options(CLI::App& app, ImagedOptions& options);

/// All that is needed to lay an environment out elsewhere. The workplace is gone with it.
struct Imaged {
    TemporaryFolder workplace;
    fs::path output{};
    std::string name{};
    std::string platform{};
    Transaction environment{};
    LayOutOptions layout{};
    std::optional<fs::path> from{};   ///< the environment that it is of
    std::int64_t time = 0;            ///< of the newest package, Unix seconds
    std::vector<Channel> channels{};  ///< with the credentials that downloads need
    bool offline = false;
};

/// What is meant, before anything is fetched. Nothing but the workplace is written.
Result<Imaged> plan_imaged(Context& context, const ImagedOptions& options);
/// Fetches what the store lacks.
Result<void> fetch_imaged(Context& context, Imaged& imaged);
/// Both.
Result<Imaged> imaged(Context& context, const ImagedOptions& options);

/// Has files that belong to no package come along, as they are when their prefix is `named`. Which
/// binaries go on to name the old one is told.
Result<void> add_other_files(Context& context, Imaged& imaged, const fs::path& named);

enum class ImageForm { Squashfs, OciLayout };
/// Writes the output, with what add_other_files() brought, and tells what is not in it.
Result<ImageInfo> write_imaged(Context& context,
                               Imaged& imaged,
                               const fs::path& mount_point,
                               ImageForm form,
                               std::optional<int> level);
/// The same as an archive, for which files of no package were to name kPackedPrefix.
Result<void> write_packed(Context& context, Imaged& imaged, std::optional<int> level);

}  // namespace gpkg::cli
