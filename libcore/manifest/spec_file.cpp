#include "libcore/manifest/spec_file.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/base/percent.hpp"
#include "libcore/base/text.hpp"
#include "libcore/manifest/expand_internal.hpp"
#include "libcore/spec/names.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace gpkg {
namespace {

constexpr std::string_view kExplicit = "@EXPLICIT";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

struct Line {
    std::string_view text;
    std::string place;
};

/// The lines that say something, and the platform that a comment names.
struct Lines {
    std::vector<Line> entries;
    bool is_explicit = false;
    std::string platform;
    std::string platform_place;
};

Lines read_lines(std::string_view text, const std::string& where) {
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    Lines lines;
    std::size_t number = 0;
    for (const auto raw : split(text, '\n')) {
        const auto line = trim(raw);
        auto place = fmt::format("{}:{}", where, ++number);
        if (line.empty()) continue;
        if (line == kExplicit) {
            lines.is_explicit = true;
        } else if (!line.starts_with('#')) {
            lines.entries.push_back({line, std::move(place)});
        } else if (const auto comment = trim(line.substr(1)); comment.starts_with("platform:")) {
            lines.platform = trim(comment.substr(comment.find(':') + 1));
            lines.platform_place = std::move(place);
        }
    }
    return lines;
}

bool is_lower_hex(std::string_view text, std::size_t length) {
    return is_hex(text, length) && to_lower(text) == text;
}

bool is_url(std::string_view text) {
    const auto colon = text.find("://");
    return colon != std::string_view::npos && colon > 0 && text.find_first_of("/\\") == colon + 1;
}

Result<ExplicitPackage> read_explicit(const Line& line, const SpecFileOptions& options) {
    const auto wrong = [&](std::string what, std::string hint = {}) {
        return fail(ErrorKind::Parse,
                    fmt::format("{}: {}: {}", line.place, line.text, what),
                    std::move(hint));
    };
    const auto expanded = manifest::expand_variables(line.text, options.env);
    // Only the last part of the path may be followed by a checksum; folders may contain a '#'.
    const std::string_view whole(expanded);
    // A signed URL may have slashes in its query.
    const auto query =
        is_url(whole) && !whole.starts_with("file:") ? whole.find('?') : whole.size();
    const auto slash = whole.substr(0, query).find_last_of("/\\");
    const auto fn_start = slash == std::string::npos ? 0 : slash + 1;
    const auto hash_mark = expanded.find('#', fn_start);
    const auto location = whole.substr(0, hash_mark);

    ExplicitPackage package;
    package.place = line.place;
    package.is_url = is_url(location);
    package.fn = location.substr(0, query).substr(fn_start);
    // "x264-1%21164.3095-0.conda" of an epoch.
    if (auto decoded = percent_decode(package.fn); package.is_url && decoded)
        package.fn = *std::move(decoded);
    const auto extension = package_extension(package.fn);
    if (extension.empty() || package.fn.size() <= extension.size() + 1)
        return wrong("expected the URL or path of a .conda or .tar.bz2 file",
                     "a file with the line @EXPLICIT may list package files only; for specs, "
                     "remove that line");
    if (hash_mark != std::string::npos) {
        auto checksum = whole.substr(hash_mark + 1);
        const bool says_sha256 = checksum.starts_with("sha256:");
        if (says_sha256) checksum.remove_prefix(7);
        if (!says_sha256 && is_lower_hex(checksum, 32)) {
            package.md5 = checksum;
        } else if (is_lower_hex(checksum, 64)) {
            package.sha256 = checksum;
        } else {
            return wrong("the text after '#' is not a checksum",
                         "write the MD5 (32) or SHA-256 (64) in lowercase hex digits");
        }
    }
    package.location =
        package.is_url ? std::string(location) : absolute_path(location, options.home).string();
    return package;
}

/// Whether a line means something to pip that a spec cannot say: options, markers, places of
/// packages ("x @ https://h/x.whl", "git+https://h/x", "./x"), and comparisons of texts.
bool is_for_pip(std::string_view line) {
    constexpr std::string_view kSigns[] = {";", " @ ", "git+", "hg+", "svn+", "bzr+", "===", " --"};
    return line.starts_with('-') || line.starts_with("./") || line.starts_with("../") ||
           line.ends_with(".whl") ||
           std::any_of(std::begin(kSigns), std::end(kSigns), [&](std::string_view sign) {
               return line.find(sign) != std::string_view::npos;
           });
}

Result<void> read_spec(const Line& line, const std::string& platform, Asked& asked) {
    auto taken = asked.take(line.text, platform);
    if (taken) return {};
    auto error = std::move(taken).error();
    error.message = line.place + ": " + error.message;
    if (to_lower(line.text) == to_lower(kExplicit))
        error.hint = "write it as @EXPLICIT";
    else if (is_for_pip(line.text))
        error.hint =
            "this is a requirement of pip: list it under 'pip:' in an environment.yml, or "
            "'pip: [-r FILE]' for all of them";
    return pass(std::move(error));
}

/// Records in an order in which each comes after those of them it depends on. Members of a cycle
/// keep their order otherwise.
class LinkOrder {
public:
    explicit LinkOrder(const std::vector<PackageRecord>& records) : records_(records) {
        for (const auto& record : records) by_name_.emplace(record.name, &record);
    }

    std::vector<const PackageRecord*> take() {
        for (const auto& record : records_) visit(record);
        return std::move(ordered_);
    }

private:
    void visit(const PackageRecord& start) {
        // An explicit stack: the depth is in the hands of whoever wrote the records.
        struct Step {
            const PackageRecord* record;
            std::size_t next = 0;
        };
        std::vector<Step> path;
        const auto enter = [&](const PackageRecord& record) {
            if (!seen_.emplace(&record, true).second) return;
            path.push_back({&record});
        };
        enter(start);
        while (!path.empty()) {
            auto& [record, next] = path.back();
            if (next == record->depends.size()) {
                ordered_.push_back(record);
                path.pop_back();
                continue;
            }
            const std::string_view depends = record->depends[next++];
            const auto name = depends.substr(0, depends.find_first_of(" =<>!~[;"));
            if (const auto found = by_name_.find(name); found != by_name_.end())
                enter(*found->second);
        }
    }

    const std::vector<PackageRecord>& records_;
    std::map<std::string_view, const PackageRecord*> by_name_;
    std::map<const PackageRecord*, bool> seen_;
    std::vector<const PackageRecord*> ordered_;
};

}  // namespace

Result<SpecFile> parse_spec_file(std::string_view text,
                                 const std::string& where,
                                 const SpecFileOptions& options) {
    if (text.find('\0') != std::string_view::npos)
        return fail(ErrorKind::Parse, where + ": not a text file");
    auto lines = read_lines(text, where);
    SpecFile file;
    file.is_explicit = lines.is_explicit;
    file.platform = lines.platform;
    if (!options.platform.empty() && !file.platform.empty() && file.platform != options.platform) {
        auto what = fmt::format(
            "{}: made for {}, not for {}", lines.platform_place, file.platform, options.platform);
        if (file.is_explicit)
            return fail(ErrorKind::Conflict,
                        std::move(what),
                        fmt::format("use --platform {}, or delete that line", file.platform));
        file.warnings.push_back(std::move(what));
    }
    for (const auto& line : lines.entries) {
        if (file.is_explicit) {
            GPKG_TRY(auto package, read_explicit(line, options));
            file.packages.push_back(std::move(package));
        } else {
            GPKG_CHECK(read_spec(line, options.platform, file.asked));
        }
    }
    return file;
}

std::string explicit_file(const std::vector<PackageRecord>& records,
                          std::string_view platform,
                          ExplicitChecksum wanted) {
    auto text = fmt::format(
        "# This file may be used to create an environment using:\n"
        "# $ gpkg create --name <env> --file <this file>\n"
        "# $ conda create --name <env> --file <this file>\n"
        "# platform: {}\n"
        "{}\n",
        platform,
        kExplicit);
    for (const auto* record : LinkOrder(records).take()) {
        text += record->url;
        const bool is_md5 = wanted == ExplicitChecksum::Md5 || record->sha256.empty();
        const auto& checksum = is_md5 ? record->md5 : record->sha256;
        if (!checksum.empty()) text += '#' + checksum;
        text += '\n';
    }
    return text;
}

}  // namespace gpkg
