#pragma once

// Packages that a person may have meant by a name that no channel has.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// The package that has the Python module or program of this name: "sklearn" is in scikit-learn.
/// Nothing for those that are called like their package.
std::optional<std::string_view> package_of_module(std::string_view module);

/// Up to `most` of `names`, nearest first: the package of a module (import_names.txt); those that
/// differ by a slip of the keyboard, one letter or in longer names two, also of a module ("pytroch"
/// for pytorch, which is in torch); or if none does, those of which one name begins or ends with
/// the other: "opencv" for opencv-python, "libtorch" for torch, but not "libtensorpipe0" for pip.
/// They are guesses: no command that gpkg proposes installs one.
std::vector<std::string> near_packages(std::string_view wanted,
                                       std::span<const std::string> names,
                                       std::size_t most = 3);

}  // namespace gpkg
