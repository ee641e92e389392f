#pragma once

// What entering an environment does to a shell's variables, as data that needs no shell. The
// scripts of activate.d are sourced by bash several times, in environments that differ, and what
// they do is read from what differs afterwards.

#include "libcore/base/error.hpp"
#include "libcore/fs/file.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

struct VariableEffect {
    enum class How {
        Set,
        SetIfUnset,
        Unset,
        PrependPath,  ///< ":" between
        AppendPath,
        PrependWords,  ///< a space between
        AppendWords,
    };
    std::string name;
    How how = How::Set;
    std::string value;  ///< kUsersHome in it stands for the user's home folder

    friend bool operator==(const VariableEffect&, const VariableEffect&) = default;
};

/// In the value of an effect, in place of the home folder of whoever enters the environment.
inline constexpr std::string_view kUsersHome = "/@gpkg/users-home";

struct CapturedActivation {
    std::vector<VariableEffect> effects;  ///< by name; PATH among them where scripts change it
    /// What a shell would have beyond them, a sentence for each: "nvcc.sh defines the function x".
    std::vector<std::string> left_out;
};

struct CaptureOptions {
    std::string name;                     ///< what CONDA_DEFAULT_ENV is to be
    std::chrono::seconds time_limit{30};  ///< for each time the scripts are sourced
    std::function<bool()> cancelled{};
};

/// The environment's own folder of programs is not among the effects: it always comes first in
/// PATH. LD_LIBRARY_PATH is left out. Fails where scripts do not come to an end, or where there are
/// scripts and no bash.
Result<CapturedActivation> capture_activation(const fs::path& prefix,
                                              const CaptureOptions& options);

}  // namespace gpkg
