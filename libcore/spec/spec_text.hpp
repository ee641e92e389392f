#pragma once

// Specs as people write them. MatchSpec::to_string is their canonical form.

#include "libcore/spec/match_spec.hpp"

#include <optional>
#include <string>

namespace gpkg {

/// The spec as a person would write it: "python >=3.8,<3.9", brackets only where nothing else says
/// it.
std::string written(const MatchSpec& spec);

/// The same of the text of a spec: "__cuda_arch >=7,<8" of `__cuda_arch[version=">=7,<8"]`. Texts
/// that need brackets, or are not valid, stay as they are.
std::string written(const std::string& spec);

/// The spec as one word of a command line, as short as it goes: "python=3.10", "p>=2,<3".
std::string as_typed(const MatchSpec& spec);

/// "python=3.10.*=h*" for "python=3.10=h*", where the version is exact because of the build.
/// Nothing for a spec whose version is not exact.
std::optional<MatchSpec> with_fuzzy_version(MatchSpec spec);

/// For people, who know a build by its name.
MatchSpec without_checksums(MatchSpec spec);

}  // namespace gpkg
