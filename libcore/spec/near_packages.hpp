#pragma once

// Packages that a person may have meant by a name that no channel has.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// The package that has the Python module of this name: "sklearn" is in scikit-learn. Nothing for
/// modules that are called like their package.
std::optional<std::string_view> package_of_module(std::string_view module);

/// Whether `name` is the package of the module `wanted`, or differs from it by a slip of the
/// keyboard: one letter, in longer names two. A module may be misspelled, too: "pytroch" for
/// pytorch, which is in torch.
bool is_very_near_package(std::string_view wanted, std::string_view name);

/// Up to `most` of `names`, nearest first: the package of a module, then those that are very near
/// (is_very_near_package()), or if none is, those of which one name begins or ends with the other:
/// "opencv" for opencv-python, "libtorch" for torch, but not "libtensorpipe0" for pip.
std::vector<std::string> near_packages(std::string_view wanted,
                                       std::span<const std::string> names,
                                       std::size_t most = 3);

}  // namespace gpkg
