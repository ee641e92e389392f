#include "libcore/env/python_layout.hpp"

#include "libcore/base/text.hpp"
#include "libcore/env/placeholder.hpp"
#include "libcore/env/transaction.hpp"
#include "libcore/fs/file.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpkg {
namespace {

constexpr std::string_view kSitePackages = "site-packages/";
constexpr std::string_view kScripts = "python-scripts/";

}  // namespace

Result<PythonLayout> python_layout(const PackageRecord& python) {
    const auto parts = split(python.version, '.');
    const auto is_number = [](std::string_view text) {
        return !text.empty() &&
               std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
    };
    if (parts.size() < 2 || !is_number(parts[0])) {
        return fail(ErrorKind::Unsupported,
                    fmt::format("{}: not a python version (X.Y...)", python.distribution()));
    }
    PythonLayout layout;
    // "3.13rc1" has a minor version of 13.
    const auto digits = std::min(parts[1].find_first_not_of("0123456789"), parts[1].size());
    if (digits == 0)
        return fail(ErrorKind::Unsupported,
                    fmt::format("{}: not a python version (X.Y...)", python.distribution()));
    layout.version = fmt::format("{}.{}", parts[0], parts[1].substr(0, digits));
    const auto& given = python.python_site_packages_path;
    if (given && !is_safe_relative(*given))
        return fail(ErrorKind::Integrity,
                    fmt::format("{}: the site-packages path '{}' leads out of the environment",
                                python.distribution(),
                                printable(*given)));
    layout.site_packages =
        given ? *given : fmt::format("lib/python{}/site-packages", layout.version);
    while (layout.site_packages.ends_with('/')) layout.site_packages.pop_back();
    return layout;
}

std::string noarch_target(std::string_view path, const PythonLayout& python) {
    if (path.starts_with(kSitePackages))
        return fmt::format("{}/{}", python.site_packages, path.substr(kSitePackages.size()));
    if (path.starts_with(kScripts)) return fmt::format("bin/{}", path.substr(kScripts.size()));
    return std::string(path);
}

bool needs_python(std::string_view path) {
    return path.starts_with(kSitePackages) || path.starts_with(kScripts);
}

std::string pyc_path(std::string_view source, const PythonLayout& python) {
    const auto slash = source.rfind('/');
    const auto folder = slash == std::string_view::npos ? "" : source.substr(0, slash + 1);
    auto stem = source.substr(folder.size());
    stem.remove_suffix(3);
    std::string tag = python.version;
    std::erase(tag, '.');
    return fmt::format("{}__pycache__/{}.cpython-{}.pyc", folder, stem, tag);
}

std::string entry_point_script(std::string_view module,
                               std::string_view function,
                               std::string_view interpreter) {
    const auto imported = function.substr(0, function.find('.'));
    return fmt::format(
        "{}\n"
        "import sys\n"
        "\n"
        "from {} import {}\n"
        "\n"
        "if __name__ == \"__main__\":\n"
        "    sys.exit({}())\n",
        shebang(interpreter, ""),
        module,
        imported,
        function);
}

bool needs_relink(const PrefixRecord& record,
                  const PackageRecord& before,
                  const PackageRecord& after) {
    if (record.package.noarch != "python") return false;
    const auto old_layout = python_layout(before);
    const auto new_layout = python_layout(after);
    return !old_layout || !new_layout || *old_layout != *new_layout;
}

}  // namespace gpkg
