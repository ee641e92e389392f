#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/environments.hpp"
#include "cli/options.hpp"
#include "cli/workflow/change.hpp"
#include "cli/workflow/delivery/deploy_file.hpp"
#include "cli/workflow/fetch.hpp"
#include "cli/workflow/one_off.hpp"
#include "cli/workflow/removal.hpp"
#include "libcore/base/digest.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/environments.hpp"
#include "libcore/env/prefix.hpp"
#include "libcore/fs/file_system.hpp"
#include "libcore/fs/workplace.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <fmt/format.h>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;

struct CleanOptions {
    bool all = false;
    bool packages = false;
    bool index_cache = false;
    bool tarballs = false;
    bool one_offs = false;
    bool images = false;
    bool dry_run = false;
};

/// What one kind of cleaning would take away.
struct Sweep {
    struct Entry {
        fs::path path;
        std::uint64_t bytes = 0;
    };
    std::vector<Entry> entries;
    std::uint64_t bytes() const {
        std::uint64_t sum = 0;
        for (const auto& entry : entries) sum += entry.bytes;
        return sum;
    }
};

/// Unpacked packages that no environment shares a file with.
Result<Sweep> unused_packages(const Context& context, const PackageStore& store) {
    Sweep sweep;
    GPKG_TRY(const auto packages, store.list());
    for (const auto& package : packages) {
        GPKG_CHECK(check_stop(context));
        GPKG_TRY(const auto usage, folder_usage(package.folder));
        if (usage.linked_files == 0) sweep.entries.push_back({package.folder, usage.freed_bytes});
    }
    return sweep;
}

/// What interrupted downloads and unpackings left.
Result<Sweep> leftovers(const PackageStore& store) {
    Sweep sweep;
    GPKG_TRY(const auto paths, store.leftovers());
    for (const auto& path : paths) {
        const auto usage = folder_usage(path);
        sweep.entries.push_back({path, usage ? usage->freed_bytes : 0});
    }
    return sweep;
}

/// The folder may be somebody's who had one of that name. What gpkg writes into it is called by a
/// hash ("0123456789abcdef.state.json", "cuda-0123456789abcdef.txt"), or by one of these names.
bool is_of_gpkg(const fs::path& path) {
    constexpr std::array<std::string_view, 4> kNames{"shards", "inputs", "sources", "git"};
    const auto name = path.filename().native();
    const auto stem = path.stem().native();
    const auto dash = stem.rfind('-');
    return is_hex(name.substr(0, 16), 16) ||
           (dash != std::string::npos && is_hex(stem.substr(dash + 1), 16)) ||
           name.starts_with("notices") ||
           std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

Result<Sweep> cached_indexes(const Context& context) {
    Sweep sweep;
    std::error_code code;
    for (fs::recursive_directory_iterator entry(context.config.index_cache(), code), end;
         !code && entry != end;
         entry.increment(code)) {
        if (entry.depth() == 0 && !is_of_gpkg(entry->path())) {
            entry.disable_recursion_pending();
            continue;
        }
        std::error_code ignored;
        if (!entry->is_regular_file(ignored)) continue;
        sweep.entries.push_back({entry->path(), entry->file_size(ignored)});
    }
    std::sort(sweep.entries.begin(), sweep.entries.end(), [](const auto& a, const auto& b) {
        return a.path < b.path;
    });
    return sweep;
}

/// Environments of `gpkg exec`, but for those that another process makes at the moment, or in which
/// a tool runs.
Result<Sweep> one_off_environments(const Context& context) {
    Sweep sweep;
    std::error_code code;
    for (fs::directory_iterator entry(one_off_folder(context.config), code), end;
         !code && entry != end;
         entry.increment(code)) {
        const auto& path = entry->path();
        std::error_code ignored;
        // Environments, those that are being made or removed, and nothing of anybody else's.
        const bool is_environment =
            fs::is_directory(path / "conda-meta", ignored) || prefix_of_rest(path);
        if (!is_environment || prefix_condition(path) == PrefixCondition::Busy) continue;
        if (!take_from_tools(path)) {
            context.out.note(fmt::format(
                "{}: kept: a tool {}",
                path.native(),
                is_on_shared_file_system(path)
                    ? "started in it within the last day and may still run on another machine"
                    : "is running in it"));
            continue;
        }
        GPKG_TRY(const auto usage, folder_usage(path));
        sweep.entries.push_back({path, usage.freed_bytes});
    }
    std::sort(sweep.entries.begin(), sweep.entries.end(), [](const auto& a, const auto& b) {
        return a.path < b.path;
    });
    return sweep;
}

/// What killed or failed commands left of environments that they made or removed. Its files keep
/// packages in use.
Result<Sweep> unfinished_environments(const Context& context) {
    Sweep sweep;
    for (const auto& path : unfinished_folders(environment_folders(context.config))) {
        GPKG_TRY(const auto usage, folder_usage(path));
        sweep.entries.push_back({path, usage.freed_bytes});
    }
    return sweep;
}

/// What `gpkg deploy` made for nodes, and what is left of making such.
Result<Sweep> made_images(const Context& context) {
    Sweep sweep;
    const auto folder = folder_for_images(context);
    for (const auto& path : abandoned_workplaces(folder)) {
        GPKG_TRY(const auto usage, folder_usage(path));
        sweep.entries.push_back({path, usage.freed_bytes});
    }
    std::error_code code;
    for (fs::directory_iterator entry(folder, code), end; !code && entry != end;
         entry.increment(code)) {
        const auto& path = entry->path();
        std::error_code ignored;
        if (entry->is_regular_file(ignored) && is_deploy_file(path)) {
            sweep.entries.push_back({path, entry->file_size(ignored)});
        }
    }
    std::sort(sweep.entries.begin(), sweep.entries.end(), [](const auto& a, const auto& b) {
        return a.path < b.path;
    });
    return sweep;
}

Json files_json(const Sweep& sweep) {
    Json files = Json::array();
    for (const auto& entry : sweep.entries) files.push_back(entry.path.native());
    return {{"files", std::move(files)}, {"total_size", sweep.bytes()}};
}

Json packages_json(const Sweep& sweep, const fs::path& store) {
    const auto& root = store.native();
    Json sizes = Json::object();
    Json names = Json::array();
    for (const auto& entry : sweep.entries) {
        sizes[entry.path.filename().native()] = entry.bytes;
        names.push_back(entry.path.filename().native());
    }
    return {{"pkg_sizes", {{root, std::move(sizes)}}},
            {"pkgs_dirs", {{root, std::move(names)}}},
            {"total_size", sweep.bytes()},
            {"warnings", Json::array()}};
}

/// Goes on after a failure: what cannot be removed keeps nothing else.
class Removal {
public:
    explicit Removal(const Context& context) : context_(context) {}

    void remove(const Sweep& sweep, const std::function<Result<void>(const fs::path&)>& how) {
        for (const auto& entry : sweep.entries) {
            if (!check_stop(context_)) return;
            take(how(entry.path));
        }
    }

    void take(Result<void> done) {
        if (done) return;
        ++failed_;
        if (!failure_) failure_ = std::move(done).error();
    }

    Result<void> outcome() {
        GPKG_CHECK(check_stop(context_));
        if (!failure_) return {};
        if (failed_ > 1)
            failure_->message += fmt::format(" ({} more could not be removed)", failed_ - 1);
        return pass(*std::move(failure_));
    }

private:
    const Context& context_;
    std::optional<Error> failure_;
    std::size_t failed_ = 0;
};

Result<int> clean(Context& context, CleanOptions options) {
    const bool is_any_given = options.all || options.packages || options.index_cache ||
                              options.tarballs || options.one_offs || options.images;
    auto& out = context.out;
    constexpr std::string_view kParts =
        "--packages, --index-cache, --tarballs, --exec and --images";
    if (!is_any_given && !options.dry_run && out.yes())
        return fail(ErrorKind::Usage,
                    "gpkg clean: missing option: what to remove",
                    fmt::format("to remove all: gpkg clean --all -y; parts: {}", kParts));
    const bool is_preview = !is_any_given && !options.dry_run;
    if (!is_any_given) options.all = options.dry_run = true;
    const auto store = open_store(context);
    Sweep packages, indexes, remains, one_offs, images, unfinished;
    if (options.all || options.packages) {
        GPKG_TRY(packages, unused_packages(context, store));
        GPKG_TRY(unfinished, unfinished_environments(context));
    }
    if (options.all || options.index_cache) {
        GPKG_TRY(indexes, cached_indexes(context));
    }
    if (options.all || options.tarballs) {
        GPKG_TRY(remains, leftovers(store));
    }
    if (options.all || options.one_offs) {
        GPKG_TRY(one_offs, one_off_environments(context));
    }
    if (options.all || options.images) {
        GPKG_TRY(images, made_images(context));
    }
    const auto tell = [&](const Sweep& sweep, std::string_view noun, std::string_view more = {}) {
        if (sweep.entries.empty()) return;
        out.print(fmt::format(
            "  {}{}, {}", count_text(sweep.entries.size(), noun), more, human_size(sweep.bytes())));
        if (!out.verbose()) return;
        for (const auto& entry : sweep.entries)
            out.print(fmt::format("    {}  {}", entry.path.native(), human_size(entry.bytes)));
    };
    for (const auto& entry : unfinished.entries)
        out.print(fmt::format("  {}, {}: left by an interrupted command",
                              entry.path.native(),
                              human_size(entry.bytes)));
    tell(packages, "unused package");
    tell(indexes, "cached repodata file");
    tell(remains, "file", " of interrupted downloads");
    tell(one_offs, "temporary environment", " of gpkg exec");
    tell(images, "environment image", " of gpkg deploy");

    const auto sweeps = {&packages, &indexes, &remains, &one_offs, &images, &unfinished};
    const auto total = [&] {
        std::uint64_t sum = 0;
        for (const auto* sweep : sweeps) sum += sweep->bytes();
        return sum;
    };
    auto bytes = total();
    const bool nothing =
        std::ranges::all_of(sweeps, [](const auto* sweep) { return sweep->entries.empty(); });
    if (!options.dry_run && !nothing) {
        GPKG_CHECK(
            confirm_removal(context, fmt::format("{} of files", human_size(bytes)), {}, Loss::No));
        Removal removal(context);
        removal.remove(one_offs, [&](const fs::path& path) -> Result<void> {
            const auto taken = take_from_tools(path);
            if (!taken) return {};  // since we looked
            return Prefix::is_environment(path)
                       ? remove_prefix(path, transaction_options(context, {}))
                       : remove_tree(path);
        });
        removal.remove(unfinished, remove_tree);
        // Packages that only these files kept in use.
        if (!unfinished.entries.empty()) {
            GPKG_TRY(packages, unused_packages(context, store));
        }
        removal.remove(packages, [&](const fs::path& path) { return store.remove(path); });
        removal.remove(indexes, remove_tree);
        removal.remove(images, remove_tree);
        if (!remains.entries.empty()) {
            if (auto done = store.remove_leftovers(); !done)
                removal.take(pass(std::move(done).error()));
        }
        GPKG_CHECK(removal.outcome());
        bytes = total();
    }
    if (out.json_mode()) {
        Json document{{"success", true}, {"dry_run", options.dry_run}};
        if (options.all || options.index_cache) document["index_cache"] = files_json(indexes);
        if (options.all || options.packages)
            document["packages"] = packages_json(packages, store.root());
        if (options.all || options.packages) document["unfinished"] = files_json(unfinished);
        if (options.all || options.tarballs) document["tarballs"] = files_json(remains);
        if (options.all || options.one_offs) document["exec"] = files_json(one_offs);
        if (options.all || options.images) document["images"] = files_json(images);
        document["total_size"] = bytes;
        out.json(document);
    } else if (nothing) {
        out.print("nothing to remove");
    } else {
        out.print(
            fmt::format("{} {}", human_size(bytes), options.dry_run ? "would be freed" : "freed"));
        if (is_preview) out.note(fmt::format("to free it: gpkg clean --all; parts: {}", kParts));
    }
    return 0;
}

}  // namespace

Action bind_clean(CLI::App& app) {
    const auto options = std::make_shared<CleanOptions>();
    app.add_flag("-a,--all", options->all, "remove all of the following");
    app.add_flag("-p,--packages,--unused",
                 options->packages,
                 "remove packages that no environment uses, and what interrupted commands left of "
                 "environments");
    app.add_flag("-i,--index-cache", options->index_cache, "remove cached repodata");
    app.add_flag(
        "-t,--tarballs", options->tarballs, "remove partial files of interrupted downloads");
    app.add_flag("--exec", options->one_offs, "remove temporary environments of gpkg exec");
    app.add_flag("--images", options->images, "remove environment images of gpkg deploy");
    app.add_flag("-d,--dry-run", options->dry_run, "show sizes; with -v all files");
    add_yes_option(app);
    app.footer(
        "Frees disk space. Without options it only shows the sizes. Environments are not changed; "
        "removed packages are downloaded again "
        "when needed. A package counts as unused if no environment links to its files. With "
        "--exec, packages used only by gpkg exec become unused too. Without a terminal, -y is "
        "required.\n\n"
        "  gpkg clean                     # show totals only\n"
        "  gpkg clean --dry-run -v        # show all files\n"
        "  gpkg clean --packages --tarballs");

    return [options](Context& context) { return clean(context, *options); };
}

}  // namespace gpkg::cli
