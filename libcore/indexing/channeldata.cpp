#include "libcore/indexing/channeldata.hpp"

#include "libcore/spec/version.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <optional>
#include <unordered_map>

namespace gpkg {
namespace {

/// What the packages of one name come to.
struct NameSummary {
    const PublishedPackage* newest = nullptr;  ///< of the newest version, the one built last
    std::optional<Version> version;
    std::int64_t built_ms = 0;
    std::vector<std::string_view> subdirs;
    /// By version, of the package built last among those that have any.
    std::map<std::string_view, const PublishedPackage*> run_exports;
};

bool built_later(const PublishedPackage& a, const PublishedPackage& b) {
    return a.package->built_ms > b.package->built_ms;
}

void add(NameSummary& about, const PublishedPackage& one, std::string_view subdir) {
    about.built_ms = std::max(about.built_ms, one.package->built_ms);
    if (about.subdirs.empty() || about.subdirs.back() != subdir) about.subdirs.push_back(subdir);
    if (one.run_exports != "{}") {
        auto& chosen = about.run_exports[one.version];
        if (chosen == nullptr || built_later(one, *chosen)) chosen = &one;
    }
    if (about.newest != nullptr && about.newest->version == one.version) {
        if (built_later(one, *about.newest)) about.newest = &one;
        return;
    }
    // Packages with another version than this are in no index.
    auto version = Version::parse(one.version);
    if (!version) return;
    if (!about.version || *version > *about.version) {
        about.newest = &one;
        about.version = *std::move(version);
    }
}

void write(std::string& text, std::string_view name, const NameSummary& about) {
    const auto out = std::back_inserter(text);
    std::string run_exports;
    for (const auto& [version, one] : about.run_exports)
        fmt::format_to(std::back_inserter(run_exports),
                       "{}\"{}\":{}",
                       run_exports.empty() ? "" : ",",
                       version,
                       one->run_exports);
    // Both are objects: what the package tells ends with the first one's last brace.
    std::string_view told = about.newest->package->channeldata;
    told.remove_suffix(1);
    fmt::format_to(out,
                   "\"{}\":{},\"run_exports\":{{{}}},\"subdirs\":[\"{}\"],\"timestamp\":{},"
                   "\"version\":\"{}\"}}",
                   name,
                   told,
                   run_exports,
                   fmt::join(about.subdirs, "\",\""),
                   about.built_ms / 1000,
                   about.newest->version);
}

}  // namespace

std::string channeldata(std::span<const PublishedSubdir* const> subdirs) {
    std::unordered_map<std::string_view, NameSummary> found;
    std::vector<std::string_view> all;
    for (const auto* subdir : subdirs) {
        all.push_back(subdir->subdir());
        for (const auto& one : subdir->packages()) {
            if (!one.is_removed) add(found[one.name], one, subdir->subdir());
        }
    }
    std::vector<std::string_view> names;
    for (const auto& [name, about] : found) {
        if (about.newest != nullptr) names.push_back(name);
    }
    std::sort(names.begin(), names.end());

    std::string text = "{\"channeldata_version\":1,\n\"packages\":{";
    for (const auto name : names) {
        text += name == names.front() ? "\n" : ",\n";
        write(text, name, found.at(name));
    }
    fmt::format_to(std::back_inserter(text),
                   "{}}},\n\"subdirs\":[\"{}\"]}}\n",
                   names.empty() ? "" : "\n",
                   fmt::join(all, "\",\""));
    return text;
}

}  // namespace gpkg
