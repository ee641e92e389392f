#include "libcore/lock/pip_requirement.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/base/percent.hpp"
#include "libcore/base/text.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpkg {
namespace {

// pixi has it before URLs that come from no index.
constexpr std::string_view kDirect = "direct+";
constexpr std::string_view kRepositories[] = {"git+", "hg+", "svn+", "bzr+"};
// What pip takes for a file of a package, and not for a folder.
constexpr std::string_view kArchives[] = {
    ".whl", ".zip", ".tar", ".gz", ".tgz", ".bz2", ".tbz", ".xz", ".txz", ".lz", ".tlz", ".lzma"};
// Within a path, pip takes these for the start of a condition, a comment, options or a variable.
constexpr std::string_view kOddInPaths[] = {";", " #", " -", "${"};

constexpr std::size_t kSha1Length = 40;
constexpr std::size_t kSha256Length = 64;

bool is_commit(std::string_view text) {
    return is_hex(text, kSha1Length) || is_hex(text, kSha256Length);
}

bool is_archive(std::string_view place) {
    const auto name = to_lower(place.substr(0, place.find_first_of("?#")));
    return std::any_of(std::begin(kArchives), std::end(kArchives), [&](auto ending) {
        return name.ends_with(ending);
    });
}

bool is_of_repository(std::string_view url) {
    return std::any_of(std::begin(kRepositories), std::end(kRepositories), [&](auto start) {
        return url.starts_with(start);
    });
}

/// As PyPI has them; nothing else can stand before '@'.
bool is_project_name(std::string_view name) {
    const auto is_alphanumeric = [](char c) {
        return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    };
    return !name.empty() && is_alphanumeric(name.front()) && is_alphanumeric(name.back()) &&
           std::all_of(name.begin(), name.end(), [&](char c) {
               return is_alphanumeric(c) || c == '.' || c == '_' || c == '-';
           });
}

/// What is after the first `mark`, which `text` loses with it.
std::string_view cut_off(std::string_view& text, char mark) {
    const auto at = text.find(mark);
    if (at == std::string_view::npos) return {};
    const auto rest = text.substr(at + 1);
    text = text.substr(0, at);
    return rest;
}

/// A value of a query, which pip does not decode.
Result<std::string> value_of_query(std::string_view value) {
    std::string text(value);
    std::replace(text.begin(), text.end(), '+', ' ');
    return percent_decode(text);
}

/// Where the ref after '@' begins; the '@' of "git@host" and of "/@group" begins none.
std::size_t start_of_ref(std::string_view url) {
    const auto host = url.find("://");
    const auto path = host == std::string_view::npos ? host : url.find('/', host + 3);
    const auto at = url.rfind('@');
    if (path == std::string_view::npos || at == std::string_view::npos || at < path)
        return std::string_view::npos;
    return url[at - 1] == '/' ? std::string_view::npos : at;
}

/// What a repository's URL says beside the repository.
struct RepositoryPlace {
    std::string url;
    std::string ref;                    ///< a commit, else a tag or a branch; may be empty
    std::vector<std::string> fragment;  ///< "subdirectory=python"
};

/// The commit after '#' is what was locked; rev, tag and branch are what was asked for.
Result<RepositoryPlace> read_repository(std::string_view location) {
    const auto fragment = cut_off(location, '#');
    const auto query = cut_off(location, '?');
    RepositoryPlace place;
    if (const auto at = start_of_ref(location); at != std::string_view::npos) {
        place.ref = location.substr(at + 1);
        location = location.substr(0, at);
    }
    place.url = location;
    for (auto part : split(query, '&')) {
        const auto coded = cut_off(part, '=');
        GPKG_TRY(auto value, value_of_query(coded));
        if (part == "subdirectory") place.fragment.push_back("subdirectory=" + value);
        if (part == "rev" || part == "tag" || part == "branch") place.ref = std::move(value);
    }
    for (const auto part : split(fragment, '&')) {
        if (part.find('=') != std::string_view::npos)
            place.fragment.emplace_back(part);
        else if (!part.empty())
            place.ref = part;
    }
    return place;
}

Result<PipRequirement> of_repository(const std::string& location) {
    GPKG_TRY(const auto place, read_repository(location));
    PipRequirement made;
    made.line = place.url;
    if (!place.ref.empty()) made.line += "@" + place.ref;
    char mark = '#';
    for (const auto& part : place.fragment) {
        made.line += mark + part;
        mark = '&';
    }
    made.lacks_commit = !is_commit(place.ref);
    return made;
}

Result<void> check_path(std::string_view path) {
    const bool is_odd = std::any_of(std::begin(kOddInPaths), std::end(kOddInPaths), [&](auto odd) {
        return path.find(odd) != std::string_view::npos;
    });
    if (!is_odd && !path.ends_with('\\') && !path.ends_with(']') && trim(path) == path) return {};
    return fail(ErrorKind::Unsupported,
                fmt::format("'{}' is not a path that pip accepts", printable(path)),
                "rename the folder");
}

Result<PipRequirement> of_path(const ForeignPackage& package) {
    auto path = package.location;
    // Without it, pip takes "mine" for a name, and "-mine" for an option.
    if (!path.starts_with('.') && !path.starts_with('/')) path.insert(0, "./");
    GPKG_CHECK(check_path(path));
    if (package.is_editable) return PipRequirement{"-e " + shell_word(path)};
    PipRequirement made{path};
    made.has_hash = is_archive(path) && !package.sha256.empty();
    return made;
}

Result<PipRequirement> of_url(const ForeignPackage& package, const std::string& url) {
    const bool is_repository = is_of_repository(url);
    PipRequirement made{url};
    if (url.starts_with("git+")) {
        GPKG_TRY(made, of_repository(url));
    }
    // A query may have hidden them.
    const bool has_blanks = std::any_of(made.line.begin(), made.line.end(), [](char c) {
        return static_cast<unsigned char>(c) <= ' ';
    });
    if (has_blanks)
        return fail(ErrorKind::Unsupported,
                    fmt::format("'{}' is not a URL that pip accepts", printable(url)));
    const bool is_local = url.starts_with("file:");
    if (is_local && package.is_editable) {
        made.line.insert(0, "-e ");
        return made;
    }
    made.has_hash = !is_repository && (!is_local || is_archive(url)) && !package.sha256.empty();
    // pip before 24.1 knows no name before the URL of a repository without a host.
    const bool has_host = url.find(":///") == std::string::npos;
    if (package.name.empty() || (is_repository && !has_host)) return made;
    if (!is_project_name(package.name))
        return fail(ErrorKind::Unsupported,
                    fmt::format("'{}' is not a valid PyPI package name", printable(package.name)));
    made.line = fmt::format("{} @ {}", package.name, made.line);
    return made;
}

}  // namespace

ForeignPackage moved(ForeignPackage package, const fs::path& from, const fs::path& to) {
    auto& place = package.location;
    if (package.kind != "pypi" || place.find(':') != std::string::npos || place.starts_with('/'))
        return package;
    auto path = (from / place).lexically_normal().native();
    if (path.size() > 1 && path.ends_with('/')) path.pop_back();
    place = fs::path(path).lexically_relative(to.lexically_normal()).native();
    if (!place.starts_with('.')) place.insert(0, "./");
    return package;
}

Result<PipRequirement> pip_requirement(const ForeignPackage& package) {
    auto location = package.location;
    if (location.starts_with(kDirect)) location.erase(0, kDirect.size());
    const bool is_url = location.find("://") != std::string::npos;
    GPKG_TRY(auto made, is_url ? of_url(package, location) : of_path(package));
    if (made.has_hash) made.line += " --hash=sha256:" + package.sha256;
    return made;
}

}  // namespace gpkg
