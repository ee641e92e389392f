#include "libcore/redist/component_layout.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <regex>

namespace gpkg {
namespace {

constexpr std::array kParts = {RedistPart::Docs,
                               RedistPart::Stubs,
                               RedistPart::Static,
                               RedistPart::Runtime,
                               RedistPart::Dev,
                               RedistPart::Activation,
                               RedistPart::Tools};

// At the top of archives. LICENSE itself is in every package; there may be more of that kind.
constexpr std::array<std::string_view, 14> kDocuments = {"doc",
                                                         "docs",
                                                         "Doc",
                                                         "samples",
                                                         "src",
                                                         "share",
                                                         "README*",
                                                         "CHANGELOG*",
                                                         "EULA*",
                                                         "LICENSE*",
                                                         "VERSION*",
                                                         "version*",
                                                         "*.txt",
                                                         "*.md"};

// Folders that stay where they are: programs look for them beside bin/.
constexpr std::array<std::string_view, 12> kToolFolders = {"bin",
                                                           "nvvm",
                                                           "compute-sanitizer",
                                                           "nsight-compute",
                                                           "nsight-systems",
                                                           "nsightee_plugins",
                                                           "libnvvp",
                                                           "extras",
                                                           "tools",
                                                           "gds",
                                                           "etc",
                                                           "res"};

bool starts_with_folder(std::string_view path, std::string_view folder) {
    return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

bool is_document(std::string_view path) {
    const auto top = std::string(path.substr(0, path.find('/')));
    static const auto known = [] {
        std::vector<std::regex> all;
        all.reserve(kDocuments.size());
        for (const auto pattern : kDocuments)
            all.emplace_back(regex_of_glob(pattern), std::regex::extended);
        return all;
    }();
    return std::any_of(
        known.begin(), known.end(), [&](const auto& one) { return std::regex_match(top, one); });
}

}  // namespace

std::span<const RedistPart> redist_parts() { return kParts; }

std::span<const std::string_view> document_entries() { return kDocuments; }

std::string_view part_name(RedistPart part) {
    switch (part) {
    case RedistPart::Docs: return "docs";
    case RedistPart::Stubs: return "stubs";
    case RedistPart::Static: return "static";
    case RedistPart::Dev: return "dev";
    case RedistPart::Activation: return "activation";
    case RedistPart::Tools: return "tools";
    case RedistPart::Runtime: return "runtime";
    }
    return {};
}

std::string target_folder(std::string_view platform) {
    // nvcc.profile, CMake's FindCUDAToolkit and conda-forge look there. Tegra has its own name.
    if (platform == "linux-sbsa") return "sbsa-linux";
    if (platform == "linux-aarch64") return "aarch64-linux";
    if (platform == "linux-ppc64le") return "ppc64le-linux";
    return "x86_64-linux";
}

std::vector<RedistMove> RedistLayout::moves() const {
    const std::string packages = "lib/pkgconfig";
    return {{"pkg-config", packages},
            {"lib/pkgconfig", packages},
            {"lib64/pkgconfig", packages},
            {"include", target + "/include"},
            {"lib", target + "/lib"},
            {"lib64", target + "/lib"}};
}

std::string RedistLayout::place_of(const std::string& path) const {
    if (path == kRedistLicense) return {};
    if (is_document(path)) return share + "/" + path;
    for (const auto& move : moves()) {
        if (starts_with_folder(path, move.from)) return move.to + path.substr(move.from.size());
    }
    return path;
}

bool RedistLayout::is_left_out(const std::string& path, bool leads_to_folder) const {
    if (!leads_to_folder) return false;
    const auto all = moves();
    return starts_with_folder(path, "targets") ||
           std::any_of(all.begin(), all.end(), [&](const auto& move) { return path == move.from; });
}

std::vector<std::string> RedistLayout::globs(RedistPart part) const {
    const auto in_target = [&](std::string_view glob) {
        return fmt::format("{}/{}", target, glob);
    };
    switch (part) {
    case RedistPart::Docs: return {share + "/**"};
    case RedistPart::Stubs: return {in_target("lib/stubs/**"), "lib/stubs/**"};
    case RedistPart::Static: return {"**/*.a"};
    case RedistPart::Dev:
        return {in_target("include/**"),
                in_target("lib/*.so"),
                "lib/*.so",
                in_target("lib/cmake/**"),
                in_target("lib/**/*.cmake"),
                in_target("lib/**/*.bc"),
                in_target("lib/**/*.fatbin"),
                in_target("lib/**/*.o"),
                "lib/pkgconfig/**"};
    case RedistPart::Activation: return {"etc/conda/**"};
    case RedistPart::Tools: {
        std::vector<std::string> all;
        all.reserve(kToolFolders.size());
        for (const auto folder : kToolFolders) all.push_back(fmt::format("{}/**", folder));
        return all;
    }
    case RedistPart::Runtime: {
        // Libraries in folders below lib are plugins, which are opened by their names.
        std::vector<std::string> all = {
            in_target("lib/**/*.so.*"), in_target("lib/*/**/*.so"), "lib/*.so.*"};
        all.insert(all.end(), plain_libraries.begin(), plain_libraries.end());
        return all;
    }
    }
    return {};
}

std::string regex_of_glob(std::string_view glob) {
    std::string out;
    while (!glob.empty()) {
        if (glob.starts_with("**/")) {
            out += "(.*/)?";
            glob.remove_prefix(3);
        } else if (glob.starts_with("**")) {
            out += ".+";
            glob.remove_prefix(2);
        } else if (glob.front() == '*') {
            out += "[^/]*";
            glob.remove_prefix(1);
        } else {
            constexpr std::string_view kSpecial = R"(.[{()\*+?|^$)";  // of POSIX; no others
            if (kSpecial.find(glob.front()) != std::string_view::npos) out += '\\';
            out += glob.front();
            glob.remove_prefix(1);
        }
    }
    return out;
}

}  // namespace gpkg
