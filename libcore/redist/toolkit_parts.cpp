#include "libcore/redist/toolkit_parts.hpp"

#include "libcore/base/has_word.hpp"
#include "libcore/base/prefix_path.hpp"
#include "libcore/base/text.hpp"
#include "libcore/binary/host_libraries.hpp"
#include "libcore/package/info.hpp"
#include "libcore/package/paths.hpp"
#include "libcore/package/unpack.hpp"
#include "libcore/redist/component_facts.hpp"

#include <algorithm>
#include <array>

namespace gpkg {
namespace {

// Of conda-forge, the defaults channel and NVIDIA's own: each of them brings all of the toolkit, or
// all libraries of it.
constexpr auto kWholes = std::to_array<std::string_view>({"cuda",
                                                          "cuda-dev",
                                                          "cuda-libraries",
                                                          "cuda-libraries-dev",
                                                          "cuda-libraries-static",
                                                          "cuda-runtime",
                                                          "cuda-toolkit",
                                                          "cudatoolkit",
                                                          "cudatoolkit-dev",
                                                          "rocm",
                                                          "rocm-dev",
                                                          "rocm-libs"});

/// "libcublas.so" of "libcublas.so.12".
std::string stem_of(std::string_view library) {
    const auto at = library.find(".so");
    return std::string(library.substr(0, at == std::string_view::npos ? at : at + 3));
}

/// Something of a part, until it is found.
struct Sought {
    const ToolkitPart* part = nullptr;
    std::string what;  ///< as the part has it
    bool is_program = false;
    std::optional<ToolkitUse> use;

    bool is_named_in(std::string_view text) const {
        return is_program ? has_word(text, what, "_-.")
                          : text.find(stem_of(what)) != std::string_view::npos;
    }
};

std::vector<Sought> sought_of(const std::vector<ToolkitPart>& parts,
                              const std::set<std::string, std::less<>>& own) {
    std::vector<Sought> all;
    for (const auto& part : parts) {
        for (const auto& library : part.libraries) {
            if (!own.contains(library)) all.push_back({&part, library, false, {}});
        }
        for (const auto& program : part.programs) {
            if (!own.contains(program)) all.push_back({&part, program, true, {}});
        }
    }
    return all;
}

void find_needed(const std::vector<Binary>& binaries, std::vector<Sought>& all) {
    for (const auto& binary : binaries) {
        for (const auto& library : binary.elf.needed) {
            for (auto& one : all) {
                const auto name = one.part->is_known_by_name ? stem_of(library) : library;
                if (!one.is_program && name == one.what)
                    one.use = ToolkitUse{library, one.part->name, false};
            }
        }
    }
}

/// A part whose libraries are linked with is needed anyway: what else of it is named says nothing.
Result<void> find_named(const fs::path& unpacked,
                        const std::vector<std::string>& files,
                        std::vector<Sought>& all) {
    // Longer than any name that is looked for.
    constexpr std::size_t kOverlap = 512;
    std::set<std::string> linked;
    for (const auto& one : all) {
        if (one.use) linked.insert(one.part->name);
    }
    for (const auto& file : files) {
        std::error_code code;
        if (fs::symlink_status(unpacked / file, code).type() != fs::file_type::regular) continue;
        GPKG_CHECK(
            read_in_pieces(unpacked / file, kOverlap, [&](std::string_view piece, std::uint64_t) {
                for (auto& one : all) {
                    if (one.use || linked.contains(one.part->name) || !one.is_named_in(piece))
                        continue;
                    one.use = ToolkitUse{one.what, one.part->name, true};
                }
                return true;
            }));
    }
    return {};
}

}  // namespace

bool is_whole_toolkit(std::string_view name) {
    return std::find(kWholes.begin(), kWholes.end(), name) != kWholes.end();
}

Result<ToolkitPart> read_toolkit_part(const fs::path& package) {
    GPKG_TRY(const auto info, read_package_info(package));
    GPKG_TRY(const auto record,
             parse_index_json(info.find("index.json")->second, package.native()));
    ToolkitPart part{record.name, record.version};
    const auto paths = info.find("paths.json");
    if (paths == info.end()) return part;
    GPKG_TRY(const auto entries, parse_paths_json(paths->second, package.native()));
    for (const auto& entry : entries) {
        const auto name = file_name_of(entry.path);
        if (entry.path.starts_with("bin/")) part.programs.emplace(name);
        const bool is_for_linker = entry.type == PathType::SoftLink && name.ends_with(".so");
        if (is_shared_library_name(name) && !is_in_stubs(entry.path) && !is_for_linker)
            part.libraries.emplace(name);
    }
    return part;
}

std::optional<ToolkitPart> known_toolkit_part(const std::string& name, const std::string& version) {
    const auto libraries = libraries_of_package(name);
    if (libraries.empty()) return std::nullopt;
    ToolkitPart part{name, version};
    part.is_known_by_name = true;
    for (const auto& library : libraries) part.libraries.insert(library + ".so");
    return part;
}

Result<std::vector<ToolkitUse>> toolkit_uses(const fs::path& unpacked,
                                             const std::vector<std::string>& files,
                                             const std::vector<Binary>& binaries,
                                             const std::vector<ToolkitPart>& parts) {
    std::set<std::string, std::less<>> own;
    for (const auto& file : files) own.emplace(file_name_of(file));
    auto all = sought_of(parts, own);
    find_needed(binaries, all);
    GPKG_CHECK(find_named(unpacked, files, all));
    std::vector<ToolkitUse> uses;
    for (auto& one : all) {
        // A library has several names.
        if (one.use && std::find(uses.begin(), uses.end(), *one.use) == uses.end())
            uses.push_back(*std::move(one.use));
    }
    return uses;
}

}  // namespace gpkg
