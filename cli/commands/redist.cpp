#include "cli/command.hpp"
#include "cli/context.hpp"
#include "libcore/base/text.hpp"
#include "libcore/fs/temporary.hpp"
#include "libcore/net/download.hpp"
#include "libcore/net/get.hpp"
#include "libcore/net/transport.hpp"
#include "libcore/net/url.hpp"
#include "libcore/redist/component_facts.hpp"
#include "libcore/redist/component_recipe.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;
using Texts = std::vector<std::string>;

struct Options {
    std::string manifest;
    std::string output = "recipes";
    Texts components;
    std::string platform;
    std::string mirror;
    std::string source_cache;
    std::string cuda_variant;
    bool tegra = false;
    bool with_cuda_version = false;
    bool fetch = false;
    bool force = false;
};

struct Imported {
    std::string component;
    std::string version;
    fs::path file;
    Texts packages;
    bool looked_into = false;
};

/// A component and its archive, where that is at hand.
struct Found {
    const RedistComponent* component;
    RedistChoice choice;
    std::optional<fs::path> file;
};

/// What is written, all of it known before anything is.
struct RecipeFile {
    fs::path path;
    std::string text;
};

std::string with_slash(std::string url) {
    if (!url.ends_with('/')) url += '/';
    return url;
}

class Import {
public:
    Import(Context& context, const Options& options) : context_(context), options_(options) {}

    Result<int> run() {
        GPKG_TRY(manifest_, read());
        const auto subdir =
            options_.platform.empty() ? context_.config.platform.value : options_.platform;
        GPKG_TRY(platform_, redist_platform(subdir, options_.tegra));
        subdir_ = subdir;
        GPKG_TRY(const auto components, chosen());
        if (options_.fetch) GPKG_CHECK(fetch_missing(components));
        std::vector<Found> found;
        for (const auto* component : components) {
            GPKG_CHECK(check_stop(context_));
            GPKG_TRY(auto one, look_into(*component));
            found.push_back(std::move(one));
        }
        // Only now it is known who has which library.
        for (const auto& one : found) import(one);
        if (options_.with_cuda_version) GPKG_CHECK(add_cuda_version());
        GPKG_CHECK(write());
        report();
        return 0;
    }

private:
    /// The manifest; learns where its archives are.
    Result<RedistManifest> read() {
        std::string text;
        auto where = options_.manifest;
        if (has_scheme(where) && !where.starts_with("file:")) {
            const auto transport =
                make_transport(transport_options_from(context_.env, context_.home));
            TransferOptions how;
            how.stop = context_.stop;
            GetRequest request;
            request.url = where;
            request.most_bytes = kLongestWritten;
            GPKG_TRY(auto response, get(*transport, request, how));
            text = std::move(response.body);
            where = without_secrets(where);
        } else {
            fs::path path;
            if (where.starts_with("file:")) {
                GPKG_TRY(path, path_of_file_url(where));
            } else {
                path = absolute_path(where, context_.home);
            }
            GPKG_TRY(text, read_file(path, kLongestWritten));
            where = path.native();
            beside_ = path.parent_path();
        }
        GPKG_TRY(auto manifest, parse_redist_manifest(text, where));
        base_ = beside_.empty() ? where.substr(0, where.rfind('/') + 1) : manifest.default_base();
        if (!options_.mirror.empty()) {
            if (!has_scheme(options_.mirror)) {
                mirror_ = absolute_path(options_.mirror, context_.home);
            } else if (options_.mirror.starts_with("file:")) {
                GPKG_TRY(mirror_, path_of_file_url(options_.mirror));
            }
            std::error_code ignored;
            if (!mirror_.empty() && !fs::is_directory(mirror_, ignored))
                return fail(ErrorKind::NotFound,
                            fmt::format("{}: --mirror is no folder", mirror_.native()));
        }
        return manifest;
    }

    Result<std::vector<const RedistComponent*>> chosen() const {
        std::vector<const RedistComponent*> components;
        if (options_.components.empty()) {
            Texts left_out;
            for (const auto& component : manifest_.components) {
                if (!has_platform(component, platform_)) continue;
                if (facts_of(component.key).is_of_system)
                    left_out.push_back(component.key);
                else
                    components.push_back(&component);
            }
            if (!left_out.empty())
                context_.out.note(
                    fmt::format("left out, being of the machine and its driver and "
                                "not of environments: {} (--component NAME)",
                                fmt::join(left_out, ", ")));
            if (components.empty())
                return fail(ErrorKind::NotFound,
                            fmt::format("{}: has no archives for {}", manifest_.where, platform_));
        }
        for (const auto& words : options_.components) {
            for (const auto word : split(words, ',')) {
                GPKG_TRY(const auto* component, manifest_.component(trim(word)));
                if (std::find(components.begin(), components.end(), component) == components.end())
                    components.push_back(component);
            }
        }
        return components;
    }

    /// The archive on this machine: in the mirror, beside the manifest, in the builder's cache.
    Result<std::optional<fs::path>> at_hand(const RedistArchive& archive) const {
        std::error_code ignored;
        if (!mirror_.empty()) {
            auto path = mirror_ / archive.path;
            if (fs::is_regular_file(path, ignored)) return path;
            return fail(ErrorKind::NotFound,
                        fmt::format("{}: the mirror does not have this archive", path.native()));
        }
        if (!beside_.empty() && fs::is_regular_file(beside_ / archive.path, ignored))
            return beside_ / archive.path;
        if (!options_.source_cache.empty()) {
            auto path = absolute_path(options_.source_cache, context_.home) / archive.sha256;
            if (fs::is_regular_file(path, ignored)) return path;
        }
        return std::nullopt;
    }

    /// Brings the archives that are not at hand into the source cache, where the build finds them.
    Result<void> fetch_missing(const std::vector<const RedistComponent*>& components) const {
        if (options_.source_cache.empty())
            return fail(ErrorKind::Usage, "--fetch needs a --source-cache FOLDER for the archives");
        const auto cache = absolute_path(options_.source_cache, context_.home);
        std::vector<Download> downloads;
        for (const auto* component : components) {
            GPKG_TRY(const auto choice,
                     choose_archive(manifest_, *component, platform_, options_.cuda_variant));
            GPKG_TRY(const auto file, at_hand(choice.archive));
            if (file) continue;
            Download download;
            download.url = urls_of(choice.archive, {}).front();
            download.destination = cache / choice.archive.sha256;
            download.sha256 = choice.archive.sha256;
            download.size = choice.archive.size.value_or(0);
            downloads.push_back(std::move(download));
        }
        if (downloads.empty()) return {};
        const auto transport = make_transport(transport_options_from(context_.env, context_.home));
        DownloadOptions how;
        how.stop = context_.stop;
        return download_all(*transport, downloads, how);
    }

    static Result<void> verify(const fs::path& file, const RedistArchive& archive) {
        std::error_code code;
        const auto size = fs::file_size(file, code);
        if (code) return pass(io_error(file, "read", code.value()));
        if (archive.size && size != *archive.size)
            return fail(
                ErrorKind::Integrity,
                fmt::format(
                    "{}: has {} bytes, the manifest says {}", file.native(), size, *archive.size),
                "download it again");
        GPKG_TRY(const auto sum, sha256_of_file(file));
        if (sum == archive.sha256) return {};
        return fail(
            ErrorKind::Integrity,
            fmt::format(
                "{}: its sha256 is {}, the manifest says {}", file.native(), sum, archive.sha256),
            "download it again");
    }

    Texts urls_of(const RedistArchive& archive, const std::optional<fs::path>& file) const {
        Texts urls;
        // As the builder reads them: file:// and the path as it is.
        const bool from_cache = file && file->filename() == archive.sha256;
        if (file && !from_cache) urls.push_back("file://" + file->native());
        if (mirror_.empty() && !options_.mirror.empty())
            urls.push_back(with_slash(options_.mirror) + archive.path);
        urls.push_back(base_ + archive.path);
        return urls;
    }

    Result<Found> look_into(const RedistComponent& component) {
        GPKG_TRY(auto choice,
                 choose_archive(manifest_, component, platform_, options_.cuda_variant));
        GPKG_TRY(auto file, at_hand(choice.archive));
        Found found{&component, std::move(choice), std::move(file)};
        if (!found.file) return found;
        GPKG_CHECK(verify(*found.file, found.choice.archive));
        GPKG_TRY(auto listing,
                 list_redist_archive(
                     *found.file, layout_of(component, platform_), folder_for_temporary()));
        if (!listing.has_license)
            return fail(ErrorKind::Unsupported,
                        fmt::format("{}: holds no LICENSE, which every package has to have",
                                    found.file->native()));
        for (const auto& stray : listing.strays)
            warn(fmt::format("{}: {} belongs to none of its packages; the build will refuse it",
                             component.key,
                             printable(stray)));
        for (const auto& [library, part] : listing.libraries) {
            for (const auto& [other, known] : listings_) {
                const auto same = known.libraries.find(library);
                if (part != RedistPart::Runtime || same == known.libraries.end() ||
                    same->second != part)
                    continue;
                warn(fmt::format(
                    "{}: has {}, and so has {}: what needs it will depend on one of them",
                    component.key,
                    printable(library),
                    other));
            }
        }
        listings_.emplace(component.key, std::move(listing));
        return found;
    }

    void import(const Found& found) {
        const auto& component = *found.component;
        ComponentRecipeInput input{manifest_,
                                   component,
                                   found.choice,
                                   subdir_,
                                   options_.tegra,
                                   urls_of(found.choice.archive, found.file),
                                   listings_};
        if (cuda_version_of(manifest_, found.choice).empty())
            warn(
                fmt::format("{}: the manifest does not say for which CUDA it is; its packages "
                            "depend on no cuda-version",
                            component.key));
        auto made = component_recipe(input);
        for (const auto& library : made.unknown_needs)
            warn(
                fmt::format("{}: needs {}, and it is not known which package has that; the build "
                            "will refuse it where the channel does not tell",
                            component.key,
                            printable(library)));
        const auto folder = absolute_path(options_.output, context_.home) / made.package;
        imported_.push_back({component.key,
                             component.version,
                             folder / "recipe.yaml",
                             std::move(made.packages),
                             found.file.has_value()});
        files_.push_back({folder / "recipe.yaml", std::move(made.recipe)});
        if (!made.variants.empty())
            files_.push_back({folder / "variants.yaml", std::move(made.variants)});
    }

    Result<void> add_cuda_version() {
        RedistChoice choice;
        choice.variant = options_.cuda_variant;
        const auto version = cuda_version_of(manifest_, choice);
        if (version.find('.') == std::string::npos)
            return fail(ErrorKind::Usage,
                        fmt::format("{}: does not say which CUDA it is of, so there is no "
                                    "cuda-version to write",
                                    manifest_.where));
        const auto folder = absolute_path(options_.output, context_.home) / "cuda-version";
        files_.push_back({folder / "recipe.yaml", cuda_version_recipe(version)});
        imported_.push_back(
            {"cuda-version", version, folder / "recipe.yaml", {"cuda-version"}, true});
        return {};
    }

    /// Nothing that somebody may have edited is written over.
    Result<void> write() const {
        std::set<fs::path> paths;
        for (const auto& file : files_) {
            std::error_code ignored;
            if (!paths.insert(file.path).second)
                return fail(ErrorKind::Conflict,
                            fmt::format("{}: two components of the manifest would make it",
                                        file.path.native()),
                            "import them one by one (--component), to folders of their own");
            if (options_.force || !fs::exists(file.path, ignored)) continue;
            GPKG_TRY(const auto there, read_file(file.path));
            if (there != file.text)
                return fail(ErrorKind::Conflict,
                            fmt::format("{}: is there already, and says something else",
                                        file.path.native()),
                            "--force writes over it; --output FOLDER writes elsewhere");
        }
        for (const auto& file : files_) GPKG_CHECK(write_file_atomically(file.path, file.text));
        return {};
    }

    void warn(std::string text) {
        context_.out.warn(text);
        warnings_.push_back(std::move(text));
    }

    void report() {
        auto recipes = Json::array();
        std::size_t unseen = 0;
        for (const auto& one : imported_) {
            context_.out.print(fmt::format("{}: {} {}: {}",
                                           one.file.native(),
                                           one.component,
                                           one.version,
                                           fmt::join(one.packages, ", ")));
            unseen += one.looked_into ? 0 : 1;
            recipes.push_back({{"component", one.component},
                               {"version", one.version},
                               {"recipe", one.file.native()},
                               {"packages", one.packages},
                               {"looked_into", one.looked_into}});
        }
        if (unseen > 0)
            context_.out.note(fmt::format(
                "the archives of {} components are not at hand: their recipes have a package for "
                "every part, and some may hold no files (--mirror FOLDER, --fetch)",
                unseen));
        if (context_.out.json_mode())
            context_.out.json({{"success", true},
                               {"manifest", manifest_.where},
                               {"platform", platform_},
                               {"recipes", std::move(recipes)},
                               {"warnings", warnings_}});
    }

    Context& context_;
    const Options& options_;
    RedistManifest manifest_;
    std::string platform_;  ///< as manifests name it
    std::string subdir_;
    std::string base_;  ///< URL of the folder that the archives' paths start from
    fs::path beside_;   ///< the manifest's folder; empty: it came from a server
    fs::path mirror_;   ///< empty: there is none, or a URL
    std::map<std::string, RedistListing> listings_;  ///< by component, of archives at hand
    std::vector<RecipeFile> files_;
    std::vector<Imported> imported_;
    Texts warnings_;
};

Action bind_import(CLI::App& app) {
    const auto options = std::make_shared<Options>();
    app.add_option("manifest", options->manifest, "redistrib_X.Y.Z.json, a file or a URL")
        ->required();
    app.add_option("--output,-o", options->output, "a folder for each recipe goes in here")
        ->type_name("FOLDER")
        ->capture_default_str();
    app.add_option("--component", options->components, "only these; else all of the platform")
        ->type_name("NAME");
    app.add_option("--platform,--subdir", options->platform, "linux-64, linux-aarch64")
        ->type_name("SUBDIR");
    app.add_flag("--tegra", options->tegra, "of linux-aarch64 the archives for Tegra, not servers");
    app.add_option("--mirror", options->mirror, "where the archives are, laid out as at NVIDIA")
        ->type_name("FOLDER|URL");
    app.add_option("--source-cache", options->source_cache, "of gpkg build: archives are there too")
        ->type_name("FOLDER");
    app.add_flag("--fetch", options->fetch, "download what is not at hand into --source-cache");
    app.add_option("--cuda-variant", options->cuda_variant, "of archives for several CUDAs, this")
        ->type_name("MAJOR");
    app.add_flag("--with-cuda-version",
                 options->with_cuda_version,
                 "also a recipe for cuda-version, for channels without conda-forge's");
    app.add_flag("--force", options->force, "write over recipes that say something else");
    app.footer(
        "Writes a recipe for each component, which gpkg build makes packages of: NAME (libraries), "
        "NAME-dev, NAME-static,\nNAME-stubs, NAME-tools and NAME-docs. With the archives at hand "
        "(--mirror) there are only those that have files.\n"
        "  gpkg redist import redistrib_12.9.1.json --component cuda_cudart --component libcurand\n"
        "  gpkg redist import redistrib_12.9.1.json --mirror /srv/redist -o recipes/cuda-12.9\n"
        "  gpkg build recipes/cuda-12.9 --output-dir ./channel");
    return [options](Context& context) { return Import(context, *options).run(); };
}

}  // namespace

Action bind_redist(CLI::App& app) {
    auto* import = app.add_subcommand("import", "write recipes for the components of a manifest");
    import->fallthrough();  // --json after the verb
    auto action = bind_import(*import);
    app.require_subcommand(1);
    app.footer(
        "NVIDIA's redistributable archives, as packages (docs/redist.md).\n"
        "  gpkg redist import redistrib_12.9.1.json --component cuda_cudart");
    return action;
}

}  // namespace gpkg::cli
