#pragma once

// A recipe after rendering: one RenderedOutput per package, everything decided, nothing left to
// evaluate. What the builder works on, and what info/recipe/rendered_recipe.yaml records (CEP 40).

#include "libcore/fs/file.hpp"
#include "libcore/package/info.hpp"
#include "libcore/recipe/package_test.hpp"
#include "libcore/recipe/variant.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace gpkg {

/// One element of `source:`: files that go into the work folder before the script runs.
struct RecipeSource {
    std::vector<std::string> urls;  ///< mirrors, tried in order; of a url source only
    fs::path path;                  ///< absolute; of a path source only
    fs::path folder;                ///< of the recipe
    std::string git;                ///< URL or absolute path; of a git source only
    /// What of a git source: a full commit id, refs/heads/..., refs/tags/... or HEAD.
    std::string git_reference = "HEAD";
    int git_depth = 0;     ///< commits of history; 0: all of it
    bool git_lfs = false;  ///< large files too
    std::string sha256;    ///< of the downloaded file; demanded for urls
    std::string md5;
    std::string file_name;          ///< save under this name; archives are then not unpacked
    std::string target_directory;   ///< below SRC_DIR; empty: SRC_DIR itself
    std::vector<fs::path> patches;  ///< absolute, applied in order
    bool use_gitignore = true;      ///< a path source leaves out what git ignores

    friend bool operator==(const RecipeSource&, const RecipeSource&) = default;
};

/// `build.script`: either commands or a file of the recipe folder.
struct BuildScript {
    std::string interpreter = "bash";
    std::string folder;  ///< below SRC_DIR, to run in; empty: SRC_DIR itself
    std::map<std::string, std::string> environment;
    /// Variables of gpkg's own environment that the script gets, and whose values no log shows.
    std::vector<std::string> secrets;
    std::string content;  ///< empty when `file` is set, or when there is nothing to run
    fs::path file;        ///< absolute

    bool is_empty() const { return content.empty() && file.empty(); }
};

struct DynamicLinking {
    /// Library folders below the prefix, or entries that begin with $ORIGIN.
    std::vector<std::string> rpaths = {"lib/"};
    bool binary_relocation = true;
    /// When not empty, only these globs are relocated.
    std::vector<std::string> relocate_only;
    /// Globs of libraries (names or paths) that no dependency has to give, and of driver libraries
    /// that may be packaged.
    std::vector<std::string> missing_dso_allowlist;
    /// Globs of entries in library paths that may lead out of the prefix, or into stubs.
    std::vector<std::string> rpath_allowlist;
    bool refuse_overlinking = true;    ///< overlinking_behavior: error
    bool refuse_overdepending = true;  ///< overdepending_behavior: error
};

struct PrefixDetection {
    std::vector<std::string> force_text;    ///< globs
    std::vector<std::string> force_binary;  ///< globs
    bool ignore = false;
    std::vector<std::string> ignore_globs;
    bool ignore_binary_files = false;
};

struct RecipeBuild {
    std::uint64_t number = 0;
    bool skip = false;
    std::string noarch;  ///< "", "generic" or "python"
    BuildScript script;
    std::vector<std::string> files_include;  ///< globs; empty: every new file
    std::vector<std::string> files_exclude;
    std::vector<std::string> always_copy_files;     ///< globs: never hard linked
    std::vector<std::string> always_include_files;  ///< globs: packaged even when not new
    DynamicLinking dynamic_linking;
    PrefixDetection prefix_detection;
    std::vector<std::string> entry_points;  ///< "exe = module:function"
    std::vector<std::string> flags;         ///< CEP 45
    /// How far behind its siblings this variant comes: so many track_features.
    int down_priority = 0;
    /// Build packages go into the host environment, which is the only one then.
    bool merge_build_and_host = false;
    std::string python_site_packages_path;          ///< CEP 17
    std::vector<std::string> skip_pyc_compilation;  ///< globs of modules without byte code
    /// CEP 20: for one platform and any python from some version on. The package is laid out and
    /// linked as a noarch one.
    bool python_version_independent = false;

    bool is_linked_as_noarch_python() const {
        return noarch == "python" || python_version_independent;
    }
};

/// Positional MatchSpecs, or a pin_compatible() that waits for the host environment (pin.hpp).
/// Where the recipe asks for a package, by spec: "/r/recipe.yaml:29:7". Equal to any other:
/// requirements of two files compare by what they ask for.
struct SpecPlaces {
    std::map<std::string, std::string> by_spec;

    friend bool operator==(const SpecPlaces&, const SpecPlaces&) { return true; }
};

struct RecipeRequirements {
    std::vector<std::string> build;
    std::vector<std::string> host;
    std::vector<std::string> run;
    std::vector<std::string> run_constraints;
    RunExports run_exports;
    std::map<std::string, std::vector<std::string>> extras;  ///< CEP 44: group -> dependencies
    std::vector<std::string> ignore_run_exports_by_name;
    std::vector<std::string> ignore_run_exports_from_package;
    SpecPlaces build_places;
    SpecPlaces host_places;
    SpecPlaces run_places;

    friend bool operator==(const RecipeRequirements&, const RecipeRequirements&) = default;
};

struct RecipeAbout {
    std::string summary;
    std::string description;
    std::string license;
    std::string license_family;
    std::vector<std::string> license_files;  ///< relative to the recipe's or the work folder
    std::string homepage;
    std::string repository;
    std::string documentation;

    friend bool operator==(const RecipeAbout&, const RecipeAbout&) = default;
};

struct RenderedOutput {
    std::string name;
    std::string version;
    std::string build_string;
    /// Makes no package, but what others inherit (CEP 41). Its version is empty.
    bool is_staging = false;
    std::shared_ptr<const RenderedOutput> inherited;  ///< whose files and sources it begins with
    bool inherits_run_exports = true;
    /// Where the package goes: "linux-64", or "noarch".
    std::string subdir;
    std::string target_platform;
    Variant used_variant;  ///< what the hash in the build string is made of
    std::vector<RecipeSource> sources;
    RecipeBuild build;
    RecipeRequirements requirements;
    std::vector<PackageTest> tests;
    RecipeAbout about;
    std::string extra_json = "{}";  ///< `extra`, as JSON text

    std::string distribution() const {
        return name + "-" + (is_staging ? "staging" : version) + "-" + build_string;
    }
};

/// The names in the build and host requirements of an output and of what it inherits.
std::set<std::string> names_needed_to_build(const RenderedOutput& output);

/// The rendered recipe as YAML, one document without any logic.
std::string rendered_recipe_text(const RenderedOutput& output);

}  // namespace gpkg
