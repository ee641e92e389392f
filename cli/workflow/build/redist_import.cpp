#include "cli/workflow/build/redist_import.hpp"

#include "cli/workflow/build/redist_archives.hpp"
#include "libcore/base/text.hpp"
#include "libcore/fs/temporary.hpp"
#include "libcore/redist/component_facts.hpp"
#include "libcore/redist/component_recipe.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;
using Texts = std::vector<std::string>;

struct Imported {
    std::string component;
    std::string version;
    fs::path file;
    Texts packages;
    bool looked_into = false;
};

/// A component and its archive, if it was found.
struct FoundComponent {
    const RedistComponent* component;
    RedistChoice choice;
    std::optional<fs::path> file;
};

/// What is written, all of it known before anything is.
struct RecipeFile {
    fs::path path;
    std::string text;
};

class Import {
public:
    Import(Context& context, const RedistImport& options, const RedistArchives& archives)
        : context_(context),
          options_(options),
          archives_(archives),
          manifest_(archives.manifest()) {}

    Result<int> run() {
        const auto subdir =
            options_.platform.empty() ? context_.config.platform.value : options_.platform;
        GPKG_TRY(platform_, redist_platform(subdir, options_.tegra));
        subdir_ = subdir;
        GPKG_TRY(const auto components, chosen());
        if (options_.fetch) GPKG_CHECK(fetch(components));
        std::vector<FoundComponent> found;
        for (const auto* component : components) {
            GPKG_CHECK(check_stop(context_));
            GPKG_TRY(auto one, look_into(*component));
            if (one) found.push_back(*std::move(one));
        }
        if (found.empty())
            return fail(
                ErrorKind::NotFound,
                fmt::format("{}: the archives contain no files for packages", manifest_.where));
        // Only now it is known who has which library.
        for (const auto& one : found) import(one);
        if (options_.with_cuda_version) GPKG_CHECK(add_cuda_version());
        GPKG_CHECK(write());
        report();
        return 0;
    }

private:
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
                    fmt::format("skipped components that belong to the driver: {} (use --component "
                                "NAME to import one)",
                                fmt::join(left_out, ", ")));
            if (components.empty())
                return fail(ErrorKind::NotFound,
                            fmt::format("{}: no archives for {}", manifest_.where, platform_));
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

    Result<void> fetch(const std::vector<const RedistComponent*>& components) const {
        std::vector<RedistArchive> archives;
        archives.reserve(components.size());
        for (const auto* component : components) {
            GPKG_TRY(auto choice,
                     choose_archive(manifest_, *component, platform_, options_.cuda_variant));
            archives.push_back(std::move(choice.archive));
        }
        return archives_.fetch(archives);
    }

    /// Nothing where the archive holds nothing for a package.
    Result<std::optional<FoundComponent>> look_into(const RedistComponent& component) {
        GPKG_TRY(auto choice,
                 choose_archive(manifest_, component, platform_, options_.cuda_variant));
        GPKG_TRY(auto file, archives_.at_hand(choice.archive));
        FoundComponent found{&component, std::move(choice), std::move(file)};
        if (!found.file) return found;
        GPKG_CHECK(verify_redist_archive(*found.file, found.choice.archive));
        GPKG_TRY(auto listing,
                 list_redist_archive(
                     *found.file, layout_of(component, platform_), folder_for_temporary()));
        if (!listing.has_license)
            return fail(
                ErrorKind::Unsupported,
                fmt::format("{}: no LICENSE file; every package needs one", found.file->native()));
        for (const auto& stray : listing.strays)
            warn(fmt::format("{}: {} belongs to no package of the recipe; the build will fail",
                             component.key,
                             printable(stray)));
        if (listing.parts.empty()) {
            warn(fmt::format("{}: skipped, {} contains {}",
                             component.key,
                             found.file->native(),
                             listing.strays.empty() ? "only a licence" : "no files for packages"));
            return std::nullopt;
        }
        for (const auto& [library, part] : listing.libraries) {
            for (const auto& [other, known] : listings_) {
                const auto same = known.libraries.find(library);
                if (part != RedistPart::Runtime || same == known.libraries.end() ||
                    same->second != part)
                    continue;
                warn(fmt::format(
                    "{}: {} is also in {}; packages that need it will depend on one of the two",
                    component.key,
                    printable(library),
                    other));
            }
        }
        listings_.emplace(component.key, std::move(listing));
        return found;
    }

    void import(const FoundComponent& found) {
        const auto& component = *found.component;
        ComponentRecipeInput input{manifest_,
                                   component,
                                   found.choice,
                                   subdir_,
                                   options_.tegra,
                                   archives_.urls_of(found.choice.archive, found.file),
                                   listings_};
        if (cuda_version_of(manifest_, found.choice).empty())
            warn(
                fmt::format("{}: the manifest does not name a CUDA version; the packages will not "
                            "depend on cuda-version",
                            component.key));
        auto made = component_recipe(input);
        for (const auto& library : made.unknown_needs)
            warn(
                fmt::format("{}: needs {}, but no known package has it; the build will fail unless "
                            "a package in the channel does",
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
            return fail(
                ErrorKind::Usage,
                fmt::format("{}: no CUDA version in the manifest; --with-cuda-version needs "
                            "one",
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
                            fmt::format("{}: two components of the manifest map to this recipe",
                                        file.path.native()),
                            "import each with --component into a separate --output folder");
            if (options_.force || !fs::exists(file.path, ignored)) continue;
            GPKG_TRY(const auto there, read_file(file.path));
            if (there != file.text)
                return fail(
                    ErrorKind::Conflict,
                    fmt::format("{}: already exists with different contents", file.path.native()),
                    "use --force to overwrite it, or --output FOLDER to write elsewhere");
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
                "the archives of {} components were not found, so some of the packages in their "
                "recipes may have no files; use --mirror FOLDER or --fetch",
                unseen));
        if (context_.out.json_mode())
            context_.out.json({{"success", true},
                               {"manifest", manifest_.where},
                               {"platform", platform_},
                               {"recipes", std::move(recipes)},
                               {"warnings", warnings_}});
    }

    Context& context_;
    const RedistImport& options_;
    const RedistArchives& archives_;
    const RedistManifest& manifest_;
    std::string platform_;  ///< as manifests name it
    std::string subdir_;
    std::map<std::string, RedistListing> listings_;  ///< by component, of archives that were found
    std::vector<RecipeFile> files_;
    std::vector<Imported> imported_;
    Texts warnings_;
};

}  // namespace

Result<int> import_redist(Context& context, const RedistImport& options) {
    GPKG_TRY(const auto archives,
             RedistArchives::open(context, options.manifest, options.mirror, options.source_cache));
    return Import(context, options, archives).run();
}

}  // namespace gpkg::cli
