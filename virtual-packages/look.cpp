#include "libcore/base/text.hpp"
#include "libcore/spec/record_version.hpp"
#include "virtual-packages/answer_cache_internal.hpp"
#include "virtual-packages/library_files_internal.hpp"
#include "virtual-packages/look_internal.hpp"
#include "virtual-packages/package_names_internal.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <fnmatch.h>
#include <re2/re2.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace gpkg::virtual_packages {
namespace {

constexpr std::size_t kMostPaths = 1000;
constexpr std::size_t kMostText = std::size_t{64} << 10U;
constexpr std::int64_t kExpressionMemory = 1 << 20;

RE2::Options expression_options() {
    RE2::Options options(RE2::Quiet);
    options.set_encoding(RE2::Options::EncodingLatin1);
    options.set_max_mem(kExpressionMemory);
    return options;
}

/// ^ and $ are the ends of a line: these are files of a few lines.
RE2 compiled(const std::string& expression) {
    return RE2("(?m)" + expression, expression_options());
}

bool is_pattern(std::string_view part) {
    return part.find_first_of("*?[") != std::string_view::npos;
}

/// Nothing but regular files is opened: devices do something when they are, and pipes wait.
std::optional<std::string> text_at(const fs::path& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!file) return std::nullopt;
    std::string text(kMostText, '\0');
    std::size_t used = 0;
    while (used < text.size()) {
        const auto count = ::read(file.get(), text.data() + used, text.size() - used);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        used += static_cast<std::size_t>(count);
    }
    text.resize(used);
    return text;
}

std::optional<std::string> link_of(const fs::path& path) {
    std::error_code code;
    auto target = fs::read_symlink(path, code);
    if (code) return std::nullopt;
    return target.native();
}

std::optional<std::string> text_at(const fs::path& path, const fs::path& shown, Look::Kind kind) {
    switch (kind) {
    case Look::Kind::File: return text_at(path);
    case Look::Kind::Link: return link_of(path);
    case Look::Kind::Path: return shown.native();
    case Look::Kind::Library: return stamp(path);
    }
    return std::nullopt;
}

/// The paths below `folders` whose last part matches `part`.
std::vector<fs::path> step(const std::vector<fs::path>& folders, const std::string& part) {
    std::vector<fs::path> found;
    std::error_code code;
    for (const auto& folder : folders) {
        if (!is_pattern(part)) {
            const auto path = folder / part;
            if (fs::symlink_status(path, code).type() != fs::file_type::not_found)
                found.push_back(path);
            continue;
        }
        for (const auto& name : sorted_names(folder, "")) {
            if (found.size() == kMostPaths) return found;
            if (::fnmatch(part.c_str(), name.c_str(), FNM_PERIOD) == 0)
                found.push_back(folder / name);
        }
    }
    return found;
}

}  // namespace

std::vector<fs::path> matching_paths(const fs::path& root, std::string_view pattern) {
    std::vector<fs::path> found{root};
    for (const auto part : split(pattern, '/'))
        if (!part.empty()) found = step(found, std::string(part));
    return found;
}

std::vector<Sight> sights(const Host& host, const Look& look) {
    const auto paths = look.kind == Look::Kind::Library ? library_files(host, look.where)
                                                        : matching_paths(host.root, look.where);
    std::vector<Sight> found;
    for (const auto& path : paths) {
        const auto shown = "/" / path.lexically_relative(host.root);
        if (auto text = text_at(path, shown, look.kind)) found.push_back({shown, *std::move(text)});
    }
    return found;
}

bool holds(const Host& host, const Look& look) {
    const auto seen = sights(host, look);
    if (look.matches.empty()) return !seen.empty();
    const auto expression = compiled(look.matches);
    return std::ranges::any_of(
        seen, [&](const Sight& sight) { return RE2::PartialMatch(sight.text, expression); });
}

std::optional<std::string> version_seen(const Host& host, const Look& look) {
    const auto expression = compiled(look.matches);
    std::optional<Version> highest;
    for (const auto& sight : sights(host, look)) {
        std::string text;
        if (!RE2::PartialMatch(sight.text, expression, &text) || !is_version(text) ||
            text == kAnyVersion)
            continue;
        auto version = Version::parse(text);
        if (version && (!highest || *highest < *version)) highest = *std::move(version);
    }
    if (!highest) return std::nullopt;
    return highest->to_string();
}

std::optional<std::string> fault_of_expression(const std::string& expression, int groups) {
    const RE2 made(expression, expression_options());
    if (!made.ok()) return made.error();
    if (groups > 0 && made.NumberOfCapturingGroups() != groups)
        return fmt::format("has {} groups, but needs exactly one, the version: ([0-9.]+)",
                           made.NumberOfCapturingGroups());
    return std::nullopt;
}

}  // namespace gpkg::virtual_packages
