#pragma once

// A spec as a person asks for a package. Beside what a MatchSpec says of records, it may say which
// accelerator the package is wanted for: `tensorflow[accel=none]`. Of a dependency or a pin nothing
// of the kind can be said.

#include "libcore/hardware/accelerator.hpp"
#include "libcore/spec/match_spec.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

struct AskedSpec {
    MatchSpec spec;
    std::optional<AcceleratorChoice> accelerator;

    /// Usage errors for accelerators that do not exist; else as MatchSpec::parse.
    static Result<AskedSpec> parse(std::string_view text);
};

/// As one word of a command line: "pytorch>=2.5[accel=nvidia]".
std::string as_typed(const AskedSpec& asked);

/// What is said of accelerators, for all packages and for some.
struct AcceleratorWishes {
    /// The first with which there is a solution; of several, one for a GPU counts only where such a
    /// GPU is. Empty: not said.
    std::vector<AcceleratorChoice> all;
    /// What `hardware-fallback-...` asks for where none of `all` will do.
    std::vector<AcceleratorChoice> fallbacks;
    std::map<std::string, AcceleratorChoice> of_package;
    /// Selectors for the CPUs of other architectures than the target's, which say nothing for it.
    std::vector<std::string> elsewhere{};

    /// Those of `elsewhere` in place of which none of their kind says anything: somebody may take
    /// them for heeded.
    std::vector<std::string> unheeded() const;
    bool empty() const { return all.empty() && fallbacks.empty() && of_package.empty(); }
    /// Whether what is for all packages depends on the machine: then somebody has to remember it.
    bool are_several() const {
        // What falls back does so from auto where nothing else is said.
        return std::max<std::size_t>(all.size(), 1) + fallbacks.size() > 1;
    }
    /// What `later` says goes before what was said so far.
    void override_with(const AcceleratorWishes& later);
};

/// "nvidia,none tensorflow=none"; what falls back is one more of them, after auto where nothing
/// goes before it. Read again it means the same.
std::string to_string(const AcceleratorWishes& wishes);
Result<AcceleratorWishes> parse_accelerator_wishes(std::string_view text);

/// "nvidia", or several in the order in which they are to be tried: "nvidia,none".
Result<std::vector<AcceleratorChoice>> parse_accelerator_choices(std::string_view text);

/// Everything that is asked for. Beside specs, the names of hardware selectors stand for what
/// --accel says: `hardware-select-gpu-nvidia` for nvidia, `hardware-fallback-cpu-x86_64` for none
/// where everything before fails, on that architecture.
struct Asked {
    std::vector<MatchSpec> specs;
    AcceleratorWishes accelerators;

    /// Adds one spec or selector; `platform` is the target's subdir.
    Result<void> take(std::string_view text, std::string_view platform);
    void take(Asked more);
};

}  // namespace gpkg
