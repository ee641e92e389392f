#include "libcore/build/built_register.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/build/metadata.hpp"
#include "libcore/build/output_build.hpp"
#include "libcore/build/source.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <system_error>

namespace gpkg {
namespace {

// Raised when the same inputs would make other bytes than before.
constexpr int kBuilderFormat = 2;

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

Result<std::string> sources_digest(const RenderedOutput& output, const BuildOptions& options) {
    Digest digest;
    for (const auto& source : output.sources) {
        GPKG_TRY(const auto each, source_digest(source, source_options(options, {})));
        digest.add(each);
    }
    return digest.hex();
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

Result<BuildInputs> build_inputs(const Recipe& recipe,
                                 const RenderedOutput& output,
                                 const BuildOptions& options) {
    BuildInputs inputs;
    Digest how;
    how.add(fmt::format("{} {} zstd {} time {} cpus {}",
                        builder_version(),
                        kBuilderFormat,
                        options.zstd_level,
                        options.timestamp ? std::to_string(*options.timestamp) : "now",
                        options.cpu_count));
    inputs["the builder or its options"] = how.hex();
    Digest text;
    text.add(rendered_recipe_text(output));
    inputs["the recipe"] = text.hex();
    GPKG_TRY(inputs["the sources"], sources_digest(output, options));
    GPKG_TRY(inputs["the files beside the recipe"], files_digest(recipe, output));
    if (output.inherited) {
        GPKG_TRY(const auto base, build_inputs(recipe, *output.inherited, options));
        Digest all;
        for (const auto& [name, value] : base) all.add(value);
        inputs[fmt::format("the staging output {}", output.inherited->name)] = all.hex();
    }
    return inputs;
}

fs::path BuiltRegister::note_of(const RenderedOutput& output) const {
    return below(options_.work, "built", package_of(output));
}

fs::path BuiltRegister::package_of(const RenderedOutput& output) const {
    return options_.channel / output.subdir / output.file_name();
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
