#include "libcore/base/prefix_path.hpp"

#include "libcore/base/text.hpp"

#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <vector>

namespace gpkg {

std::string parent_of(std::string_view path) {
    const auto slash = path.rfind('/');
    return std::string(slash == std::string_view::npos ? "" : path.substr(0, slash));
}

std::string_view file_name_of(std::string_view path) {
    return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

std::string joined_path(std::string_view folder, std::string_view rest) {
    if (folder.empty()) return std::string(rest);
    return fmt::format("{}/{}", folder, rest);
}

std::string path_from(std::string_view path, std::string_view folder) {
    namespace fs = std::filesystem;
    const auto absolute = [](std::string_view text) {
        auto normal = fs::path("/" + std::string(text)).lexically_normal();
        return normal.has_filename() ? normal : normal.parent_path();
    };
    auto relative = absolute(path).lexically_relative(absolute(folder)).native();
    return relative == "." ? std::string() : relative;
}

std::optional<std::string> normal_inside(std::string_view path) {
    std::vector<std::string_view> parts;
    for (const auto part : split(path, '/')) {
        if (part.empty() || part == ".") continue;
        if (part != "..") {
            parts.push_back(part);
        } else if (parts.empty()) {
            return std::nullopt;
        } else {
            parts.pop_back();
        }
    }
    return fmt::format("{}", fmt::join(parts, "/"));
}

}  // namespace gpkg
