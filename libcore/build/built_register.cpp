#include "libcore/build/built_register.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/base/json_text.hpp"
#include "libcore/build/metadata.hpp"
#include "libcore/build/output_build.hpp"
#include "libcore/build/sources/source.hpp"
#include "libcore/recipe/variant_files.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>

namespace gpkg {
namespace {

// Raised when the same inputs would make other bytes than before.
constexpr int kBuilderFormat = 4;

using Json = nlohmann::json;

class Digest {
public:
    void add(std::string_view text) { hasher_.update(fmt::format("{}:{}", text.size(), text)); }
    std::string hex() { return std::move(hasher_).hex(); }

private:
    Hasher hasher_{DigestKind::Sha256};
};

/// Which files a script reads by way of $RECIPE_DIR is not known before it runs.
bool may_read_recipe_folder(const RenderedOutput& output, std::string_view script) {
    const auto names_it = [](std::string_view text) {
        return text.find("RECIPE_DIR") != std::string_view::npos;
    };
    const auto takes_files = [](const PackageTest& test) { return !test.recipe_files.empty(); };
    return names_it(script) || names_it(output.build.script.content) ||
           std::any_of(output.tests.begin(), output.tests.end(), takes_files);
}

bool is_within(const fs::path& path, const fs::path& folder) {
    const auto [at, end] = std::mismatch(path.begin(), path.end(), folder.begin(), folder.end());
    return end == folder.end();
}

/// All of the recipe's folder but what is judged otherwise, or made by the builder itself.
Result<std::string> folder_digest(const Recipe& recipe, const BuildOptions& options) {
    Digest digest;
    std::vector<fs::path> entries;
    std::error_code code;
    for (fs::directory_iterator entry(recipe.folder(), code), end; !code && entry != end;
         entry.increment(code))
        entries.push_back(entry->path());
    std::sort(entries.begin(), entries.end());
    for (const auto& entry : entries) {
        const bool is_judged_otherwise = entry == recipe.file || is_variant_file(entry);
        if (is_judged_otherwise || entry.filename() == ".git" || entry == options.channel ||
            is_within(options.work, entry))
            continue;
        GPKG_TRY(const auto tree, tree_digest(entry));
        digest.add(entry.filename().native());
        digest.add(tree);
    }
    return digest.hex();
}

/// Of the recipe's folder: the script, what it and tests read there, and licences.
Result<std::string> files_digest(const Recipe& recipe,
                                 const RenderedOutput& output,
                                 const BuildOptions& options) {
    Digest digest;
    std::string script;
    if (!output.build.script.file.empty()) {
        GPKG_TRY(script, read_file(output.build.script.file));
        digest.add(script);
    }
    if (may_read_recipe_folder(output, script)) {
        GPKG_TRY(const auto folder, folder_digest(recipe, options));
        digest.add(folder);
    }
    for (const auto& name : output.about.license_files) {
        std::error_code code;
        const auto file = recipe.folder() / name;
        if (!fs::exists(file, code)) continue;
        GPKG_TRY(const auto tree, tree_digest(file));
        digest.add(tree);
    }
    return digest.hex();
}

std::string joined(const std::vector<std::string>& texts) {
    return fmt::format("{}", fmt::join(texts, ", "));
}

/// The files that are in one list and not in the other.
std::string difference(const std::vector<std::string>& now, const std::vector<std::string>& then) {
    const auto only_in = [](const auto& some, const auto& others) {
        std::vector<std::string> names;
        for (const auto& line : some) {
            if (std::find(others.begin(), others.end(), line) == others.end())
                names.push_back(line.substr(0, line.find(' ')));
        }
        return names;
    };
    const auto came = only_in(now, then);
    const auto went = only_in(then, now);
    if (came == went) return fmt::format("{} changed", joined(came));
    if (went.empty()) return fmt::format("{} added", joined(came));
    if (came.empty()) return fmt::format("{} removed", joined(went));
    return fmt::format("{} instead of {}", joined(came), joined(went));
}

/// What is known of how the package was made; null where that is nothing.
Json read_note(const fs::path& package, const fs::path& work) {
    const auto text = read_file(note_on(package, work));
    auto note = text ? Json::parse(*text, nullptr, false) : Json();
    const bool is_one = note.is_object() && note.contains("inputs") && note.contains("uses");
    return is_one ? note : Json();
}

std::vector<EnvironmentUse> uses_of(const Json& note) {
    std::vector<EnvironmentUse> uses;
    if (note.is_null()) return uses;
    uses.reserve(note["uses"].size());
    for (const auto& use : note["uses"]) uses.push_back({use.at("specs"), use.at("packages")});
    return uses;
}

}  // namespace

Result<BuildInputs> BuiltRegister::inputs(const Recipe& recipe, const RenderedOutput& output) {
    BuildInputs inputs;
    Digest how;
    how.add(fmt::format("{} {} zstd {} time {} cpus {}",
                        builder_version(),
                        kBuilderFormat,
                        options_.zstd_level,
                        options_.timestamp ? std::to_string(*options_.timestamp) : "now",
                        options_.cpu_count));
    inputs["the builder or its options"] = how.hex();
    Digest text;
    text.add(rendered_recipe_text(output));
    inputs["the recipe"] = text.hex();
    GPKG_TRY(inputs["the sources"], sources_digest(output));
    GPKG_TRY(inputs["the files beside the recipe"], files_digest(recipe, output, options_));
    if (output.inherited) {
        GPKG_TRY(const auto base, this->inputs(recipe, *output.inherited));
        Digest all;
        for (const auto& [name, value] : base) all.add(value);
        inputs[fmt::format("the staging output {}", output.inherited->name)] = all.hex();
    }
    return inputs;
}

Result<std::string> BuiltRegister::digest_of(const RecipeSource& source) {
    {
        const std::scoped_lock lock(mutex_);
        for (const auto& [known, digest] : sources_) {
            if (known == source) return digest;
        }
    }
    GPKG_TRY(auto digest, source_digest(source, source_options(options_, {})));
    const std::scoped_lock lock(mutex_);
    sources_.emplace_back(source, digest);
    return digest;
}

Result<std::string> BuiltRegister::sources_digest(const RenderedOutput& output) {
    Digest digest;
    for (const auto& source : output.sources) {
        GPKG_TRY(const auto each, digest_of(source));
        digest.add(each);
    }
    return digest.hex();
}

fs::path BuiltRegister::unpublished(const RenderedOutput& output) const {
    return publisher_.unpublished(output.subdir, package_file_name(output, options_));
}

fs::path BuiltRegister::published(const RenderedOutput& output) const {
    return publisher_.published(output.subdir, package_file_name(output, options_));
}

fs::path BuiltRegister::package_of(const RenderedOutput& output) const {
    std::error_code code;
    auto waiting = unpublished(output);
    return fs::exists(waiting, code) ? waiting : published(output);
}

Result<std::optional<std::string>> BuiltRegister::why_build(const RenderedOutput& output,
                                                            const BuildInputs& inputs) const {
    const auto package = package_of(output);
    const auto stamp = stamp_of(package);
    if (stamp.empty()) return "new";
    const auto note = read_note(package, options_.work);
    if (note.is_null()) return "no record of how its package was built";
    if (note.value("package", "") != stamp) return "its package changed since it was built";
    std::vector<std::string> changed;
    for (const auto& [name, digest] : inputs) {
        if (note["inputs"].value(name, "") != digest) changed.push_back(name);
    }
    if (!changed.empty()) return fmt::format("changed: {}", joined(changed));
    for (const auto& use : uses_of(note)) {
        if (!options_.solve_environment) return "its environments cannot be solved here";
        GPKG_TRY(const auto now, options_.solve_environment(use.specs));
        if (now.packages != use.packages)
            return "different build environment: " + difference(now.packages, use.packages);
    }
    return std::nullopt;
}

BuiltPackage BuiltRegister::package(const RenderedOutput& output) const {
    BuiltPackage package;
    package.distribution = output.distribution();
    package.file = package_of(output);
    package.log = options_.work / "logs" / (output.distribution() + ".log");
    package.reused = true;
    package.is_published = package.file == published(output);
    package.tests = output.tests;
    package.tested = publisher_.is_tested(package);
    package.built_with = noted_distributions(package.file, options_.work);
    return package;
}

Result<void> BuiltRegister::forget(const RenderedOutput& output) const {
    return remove_tree(unpublished(output));
}

Result<void> BuiltRegister::remember(const BuiltPackage& package,
                                     const BuildInputs& inputs,
                                     const std::vector<EnvironmentUse>& uses) const {
    auto list = Json::array();
    for (const auto& use : uses) list.push_back({{"specs", use.specs}, {"packages", use.packages}});
    const Json note{{"package", stamp_of(package.file)}, {"inputs", inputs}, {"uses", list}};
    return write_file_atomically(note_on(package.file, options_.work), json_text(note, 1) + "\n");
}

std::vector<std::string> noted_distributions(const fs::path& package, const fs::path& work) {
    return distributions_in(uses_of(read_note(package, work)));
}

std::vector<std::string> distributions_in(const std::vector<EnvironmentUse>& uses) {
    std::set<std::string> found;
    for (const auto& use : uses) {
        for (const auto& line : use.packages) {
            const auto name = line.substr(0, line.find(' '));
            found.insert(name.substr(name.rfind('/') + 1));
        }
    }
    return {found.begin(), found.end()};
}

}  // namespace gpkg
