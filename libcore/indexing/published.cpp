#include "libcore/indexing/published.hpp"

#include "libcore/base/json_text.hpp"
#include "libcore/base/parallel.hpp"
#include "libcore/spec/names.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <nlohmann/json.hpp>

namespace gpkg {
namespace {

using Json = nlohmann::json;

/// Members of an object, a line each, so that two indexes can be compared with diff.
class Lines {
public:
    explicit Lines(std::string& text) : text_(text) { text_ += '{'; }
    /// The key's characters are those of a file name of a package: nothing to escape.
    void add(std::string_view key, std::string_view json) {
        text_ += is_first_ ? "\n\"" : ",\n\"";
        is_first_ = false;
        text_.append(key).append("\":").append(json);
    }
    void end() { text_ += is_first_ ? "}" : "\n}"; }

private:
    std::string& text_;
    bool is_first_ = true;
};

std::string_view stem_of(std::string_view file) {
    return file.substr(0, file.size() - package_extension(file).size() - 1);
}

bool stands_in(const PublishedPackage& one, std::string_view extension, bool v3) {
    return !one.is_removed && one.package->is_v3 == v3 && package_extension(one.file) == extension;
}

void add_records(std::string& text,
                 const std::vector<PublishedPackage>& packages,
                 std::string_view extension,
                 bool v3) {
    Lines lines(text);
    for (const auto& one : packages) {
        if (stands_in(one, extension, v3)) lines.add(v3 ? stem_of(one.file) : one.file, one.record);
    }
    lines.end();
}

void add_v3(std::string& text, const std::vector<PublishedPackage>& packages) {
    text += ",\n\"v3\":{";
    bool is_first = true;
    for (const std::string_view extension : {"conda", "tar.bz2"}) {
        const bool any = std::any_of(packages.begin(), packages.end(), [&](const auto& one) {
            return stands_in(one, extension, true);
        });
        if (!any) continue;
        text += fmt::format("{}\"{}\":", is_first ? "" : ",\n", extension);
        is_first = false;
        add_records(text, packages, extension, true);
    }
    text += '}';
}

}  // namespace

PublishedSubdir::PublishedSubdir(std::string subdir,
                                 const std::map<std::string, IndexedPackage>& packages,
                                 const std::set<std::string>& withdrawn,
                                 const PatchInstructions& patch,
                                 int jobs)
    : subdir_(std::move(subdir)), removed_(withdrawn) {
    std::vector<std::pair<std::size_t, const std::string*>> changed;
    packages_.reserve(packages.size());
    for (const auto& [file, package] : packages) {
        if (withdrawn.contains(file)) continue;
        PublishedPackage one;
        one.file = file;
        // <name>-<version>-<build>: as it was compared with its record.
        const auto stem = stem_of(file);
        const auto build = stem.rfind('-');
        const auto version = stem.rfind('-', build - 1);
        one.name = stem.substr(0, version);
        one.version = stem.substr(version + 1, build - version - 1);
        one.record = package.record;
        one.run_exports = package.run_exports;
        one.package = &package;
        one.is_removed = patch.removes(file);
        if (one.is_removed) removed_.insert(file);
        if (patch.changes(file)) changed.emplace_back(packages_.size(), &file);
        packages_.push_back(one);
    }
    patched_.resize(changed.size());
    for_each_index(changed.size(), static_cast<std::size_t>(std::max(1, jobs)), [&](std::size_t i) {
        auto& one = packages_[changed[i].first];
        patched_[i] = patch.apply(*changed[i].second, *one.package);
        one.record = patched_[i].record;
        if (patched_[i].run_exports) one.run_exports = *patched_[i].run_exports;
    });
}

std::size_t PublishedSubdir::count() const {
    return static_cast<std::size_t>(std::count_if(
        packages_.begin(), packages_.end(), [](const auto& one) { return !one.is_removed; }));
}

std::string PublishedSubdir::revisions() const {
    std::size_t count = 0;
    std::int64_t oldest = 0;
    std::int64_t newest = 0;
    for (const auto& one : packages_) {
        if (one.is_removed || !one.package->is_v3) continue;
        const auto at = one.package->indexed_ms;
        oldest = count == 0 ? at : std::min(oldest, at);
        newest = std::max(newest, at);
        ++count;
    }
    if (count == 0) return {};
    return json_text(Json{{"v3", {{"n_packages", count}, {"oldest", oldest}, {"newest", newest}}}});
}

std::string PublishedSubdir::repodata() const {
    std::size_t size = 1000;
    for (const auto& one : packages_) size += one.file.size() + one.record.size() + 5;
    std::string text;
    text.reserve(size);
    const auto v3 = revisions();
    text += fmt::format("{{\"info\":{{{}\"subdir\":\"{}\"}},\n\"packages\":",
                        v3.empty() ? "" : fmt::format("\"repodata_revisions\":{},", v3),
                        subdir_);
    add_records(text, packages_, "tar.bz2", false);
    text += ",\n\"packages.conda\":";
    add_records(text, packages_, "conda", false);
    fmt::format_to(std::back_inserter(text),
                   ",\n\"removed\":{},\n\"repodata_version\":1",
                   json_text(Json(removed_)));
    if (!v3.empty()) add_v3(text, packages_);
    text += "}\n";
    return text;
}

std::string PublishedSubdir::run_exports() const {
    std::string text = fmt::format("{{\"info\":{{\"subdir\":\"{}\",\"version\":0}}", subdir_);
    for (const std::string_view extension : {"tar.bz2", "conda"}) {
        text += extension == "conda" ? ",\n\"packages.conda\":" : ",\n\"packages\":";
        Lines lines(text);
        for (const auto& one : packages_) {
            if (package_extension(one.file) == extension)
                lines.add(one.file, fmt::format("{{\"run_exports\":{}}}", one.run_exports));
        }
        lines.end();
    }
    text += "}\n";
    return text;
}

std::string PublishedSubdir::variants() const {
    std::string text = fmt::format("{{\"info\":{{\"subdir\":\"{}\",\"version\":1}}", subdir_);
    for (const std::string_view extension : {"tar.bz2", "conda"}) {
        text += extension == "conda" ? ",\n\"packages.conda\":" : ",\n\"packages\":";
        Lines lines(text);
        for (const auto& one : packages_) {
            const auto& used = one.package->variant;
            if (!one.is_removed && package_extension(one.file) == extension && used != "{}")
                lines.add(one.file, used);
        }
        lines.end();
    }
    text += "}\n";
    return text;
}

}  // namespace gpkg
