#include "cli/workflow/pip_packages.hpp"

#include "libcore/base/text.hpp"
#include "libcore/env/transaction.hpp"

#include <algorithm>
#include <set>
#include <system_error>

namespace gpkg::cli {
namespace {

/// The folders that Pythons of this environment import from.
std::vector<fs::path> site_packages(const fs::path& prefix) {
    std::vector<fs::path> folders;
    std::error_code code;
    for (fs::directory_iterator entry(prefix / "lib", code), end; !code && entry != end;
         entry.increment(code)) {
        if (!entry->path().filename().native().starts_with("python")) continue;
        auto folder = entry->path() / "site-packages";
        std::error_code ignored;
        // lib/python3.1 is a link to lib/python3.10 in conda's own Pythons.
        if (!fs::is_symlink(entry->path(), ignored) && fs::is_directory(folder, ignored))
            folders.push_back(std::move(folder));
    }
    return folders;
}

/// All headers `key` of a metadata file, whose headers end at the first empty line.
std::vector<std::string> headers(std::string_view text, std::string_view key) {
    std::vector<std::string> values;
    for (const auto line : split(text, '\n')) {
        if (trim(line).empty()) break;
        const auto colon = line.find(':');
        if (colon != std::string_view::npos && line.substr(0, colon) == key)
            values.emplace_back(trim(line.substr(colon + 1)));
    }
    return values;
}

/// The first of them.
std::string header(std::string_view text, std::string_view key) {
    auto values = headers(text, key);
    return values.empty() ? std::string() : std::move(values.front());
}

Wheel wheel_of(const fs::path& folder, std::string_view metadata) {
    Wheel wheel;
    wheel.name = header(metadata, "Name");
    wheel.version = header(metadata, "Version");
    wheel.depends = headers(metadata, "Requires-Dist");
    wheel.python = header(metadata, "Requires-Python");
    if (const auto built = read_file(folder / "WHEEL")) wheel.tags = headers(*built, "Tag");
    return wheel;
}

}  // namespace

std::vector<Wheel> pip_packages(const fs::path& prefix,
                                const std::vector<PrefixRecord>& installed) {
    // Conda packages that an interrupted command was linking are not of pip.
    const auto unfinished = unfinished_files(prefix);
    std::set<std::string_view> owned(unfinished.begin(), unfinished.end());
    for (const auto& record : installed) {
        for (const auto& file : record.files) {
            if (file.ends_with("/METADATA") || file.ends_with("/PKG-INFO")) owned.insert(file);
        }
    }
    std::vector<Wheel> packages;
    for (const auto& folder : site_packages(prefix)) {
        std::error_code code;
        for (fs::directory_iterator entry(folder, code), end; !code && entry != end;
             entry.increment(code)) {
            const auto extension = entry->path().extension();
            if (extension != ".dist-info" && extension != ".egg-info") continue;
            const auto file = entry->path() / (extension == ".dist-info" ? "METADATA" : "PKG-INFO");
            if (owned.contains(file.lexically_relative(prefix).native())) continue;
            const auto text = read_file(file);
            if (!text) continue;
            auto package = wheel_of(entry->path(), *text);
            if (!package.name.empty()) packages.push_back(std::move(package));
        }
    }
    std::sort(packages.begin(), packages.end(), [](const auto& a, const auto& b) {
        return to_lower(a.name) < to_lower(b.name);
    });
    return packages;
}

}  // namespace gpkg::cli
