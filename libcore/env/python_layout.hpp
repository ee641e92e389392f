#pragma once

// Where files of noarch python packages go in an environment (CEP 17, CEP 20), which .pyc files
// they get, and the programs made of their entry points.

#include "libcore/base/error.hpp"
#include "libcore/spec/package_record.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace gpkg {

struct PythonLayout {
    std::string version;        ///< "3.12"
    std::string site_packages;  ///< "lib/python3.12/site-packages"

    /// Relative to the prefix: "bin/python3.12".
    std::string interpreter() const { return "bin/python" + version; }
    friend bool operator==(const PythonLayout&, const PythonLayout&) = default;
};

/// Of the package named python. Refuses a site-packages path that would leave the prefix.
Result<PythonLayout> python_layout(const PackageRecord& python);

/// "lib/python3.12/site-packages/x.py" for "site-packages/x.py", "bin/x" for "python-scripts/x",
/// else the path itself.
std::string noarch_target(std::string_view path, const PythonLayout& python);

/// True for paths that noarch_target moves: they mean nothing without a python.
bool needs_python(std::string_view path);

/// "a/__pycache__/b.cpython-312.pyc" of "a/b.py".
std::string pyc_path(std::string_view source, const PythonLayout& python);

/// The text of bin/<command> for an entry point "command = module:function".
std::string entry_point_script(std::string_view module,
                               std::string_view function,
                               std::string_view interpreter);

}  // namespace gpkg
