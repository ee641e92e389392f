#include "libcore/build/built_register.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/build/metadata.hpp"
#include "libcore/build/output_build.hpp"
#include "libcore/build/sources/source.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <system_error>

namespace gpkg {
namespace {

// Raised when the same inputs would make other bytes than before.
constexpr int kBuilderFormat = 3;

/// What was in the channel before a package that has yet to pass its tests.
constexpr std::string_view kReplaced = "replaced";

using Json = nlohmann::json;

class Digest {
public:
    void add(std::string_view text) { hasher_.update(fmt::format("{}:{}", text.size(), text)); }
    std::string hex() { return std::move(hasher_).hex(); }

private:
    Hasher hasher_{DigestKind::Sha256};
};

/// How the package file was when it was made.
std::string stamp_of(const fs::path& file) {
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0) return {};
    return fmt::format(
        "{} {}.{:09}", status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

/// <work>/<kind>/<subdir>/<file name>
fs::path below(const fs::path& work, std::string_view kind, const fs::path& package) {
    return work / kind / package.parent_path().filename() / package.filename();
}

/// Of the recipe's folder: the script, and the licences that lie beside it.
Result<std::string> files_digest(const Recipe& recipe, const RenderedOutput& output) {
    Digest digest;
    if (!output.build.script.file.empty()) {
        GPKG_TRY(const auto text, read_file(output.build.script.file));
        digest.add(text);
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
    if (went.empty()) return fmt::format("{} came", joined(came));
    if (came.empty()) return fmt::format("{} went", joined(went));
    return fmt::format("{} in place of {}", joined(came), joined(went));
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
    GPKG_TRY(inputs["the files beside the recipe"], files_digest(recipe, output));
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

fs::path BuiltRegister::note_of(const RenderedOutput& output) const {
    return below(options_.work, "built", package_of(output));
}

fs::path BuiltRegister::package_of(const RenderedOutput& output) const {
    return options_.channel / output.subdir / package_file_name(output, options_);
}

Result<std::optional<std::string>> BuiltRegister::why_build(const RenderedOutput& output,
                                                            const BuildInputs& inputs) const {
    const auto stamp = stamp_of(package_of(output));
    if (stamp.empty()) return "it is new";
    const auto text = read_file(note_of(output));
    const auto note = text ? Json::parse(*text, nullptr, false) : Json();
    if (!note.is_object() || !note.contains("inputs") || !note.contains("uses"))
        return "nothing is known of how its package was made";
    if (note.value("package", "") != stamp) return "its package was changed since it was made";
    std::vector<std::string> changed;
    for (const auto& [name, digest] : inputs) {
        if (note["inputs"].value(name, "") != digest) changed.push_back(name);
    }
    if (!changed.empty()) return fmt::format("changed: {}", joined(changed));
    for (const auto& use : note["uses"]) {
        if (!options_.solve_environment) return "its environments cannot be solved here";
        GPKG_TRY(const auto now, options_.solve_environment(use.at("specs")));
        const std::vector<std::string> then = use.at("packages");
        if (now.packages != then)
            return "other packages to build with: " + difference(now.packages, then);
    }
    return std::nullopt;
}

BuiltPackage BuiltRegister::package(const RenderedOutput& output) const {
    BuiltPackage package;
    package.distribution = output.distribution();
    package.file = package_of(output);
    package.log = options_.work / "logs" / (output.distribution() + ".log");
    package.reused = true;
    package.tests = output.tests;
    package.tested = is_tested(package, options_.work);
    return package;
}

Result<void> BuiltRegister::remember(const RenderedOutput& output,
                                     const BuildInputs& inputs,
                                     const std::vector<EnvironmentUse>& uses) const {
    auto list = Json::array();
    for (const auto& use : uses) list.push_back({{"specs", use.specs}, {"packages", use.packages}});
    const Json note{{"package", stamp_of(package_of(output))}, {"inputs", inputs}, {"uses", list}};
    return write_file_atomically(note_of(output), note.dump(1) + "\n");
}

bool is_tested(const BuiltPackage& package, const fs::path& work) {
    const auto note = read_file(below(work, "tested", package.file));
    return note && *note == stamp_of(package.file);
}

Result<void> remember_tested(const BuiltPackage& package, const fs::path& work) {
    return write_file_atomically(below(work, "tested", package.file), stamp_of(package.file));
}

namespace {

/// Also to another file system.
Result<void> move_file(const fs::path& from, const fs::path& to) {
    GPKG_CHECK(make_folders(to.parent_path()));
    std::error_code code;
    fs::rename(from, to, code);
    if (code == std::errc::cross_device_link) {
        code.clear();
        fs::copy_file(from, to, fs::copy_options::overwrite_existing, code);
        if (!code) fs::remove(from, code);
    }
    if (code) return pass(io_error(from, "move to " + to.native(), code.value()));
    return {};
}

}  // namespace

Result<void> keep_published(const fs::path& package, const fs::path& work) {
    const auto kept = below(work, kReplaced, package);
    GPKG_CHECK(remove_tree(kept));
    std::error_code code;
    if (!fs::exists(package, code)) return {};
    GPKG_CHECK(make_folders(kept.parent_path()));
    fs::create_hard_link(package, kept, code);
    if (code) fs::copy_file(package, kept, code);
    if (code) return pass(io_error(package, "copy to " + kept.native(), code.value()));
    return {};
}

Result<void> publish(const BuiltPackage& package, const fs::path& work) {
    return remove_tree(below(work, kReplaced, package.file));
}

Result<Withheld> withhold(const BuiltPackage& package, const fs::path& work) {
    Withheld withheld{below(work, "failed", package.file)};
    GPKG_CHECK(move_file(package.file, withheld.place));
    const auto kept = below(work, kReplaced, package.file);
    std::error_code code;
    withheld.restored = fs::exists(kept, code);
    if (withheld.restored) GPKG_CHECK(move_file(kept, package.file));
    return withheld;
}

std::string Withheld::to_string() const {
    return fmt::format("it is not in the channel but in {}{}",
                       place.native(),
                       restored ? "; the channel has the one from before" : "");
}

}  // namespace gpkg
