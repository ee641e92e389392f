#pragma once

// What is installed, for tests of what is asked beside it.

#include "libcore/env/prefix_record.hpp"
#include "libcore/spec/match_spec.hpp"

#include <string>
#include <utility>
#include <vector>

namespace gpkg::tests {

inline PrefixRecord installed(std::string name,
                              std::string version,
                              std::vector<std::string> depends = {},
                              std::string build = "0") {
    PrefixRecord record;
    record.package.name = std::move(name);
    record.package.version = std::move(version);
    record.package.build = std::move(build);
    record.package.depends = std::move(depends);
    return record;
}

inline std::vector<MatchSpec> specs(const std::vector<std::string>& texts) {
    std::vector<MatchSpec> parsed;
    for (const auto& text : texts) parsed.push_back(MatchSpec::parse(text).value());
    return parsed;
}

inline std::vector<std::string> texts(const std::vector<MatchSpec>& specs) {
    std::vector<std::string> texts;
    for (const auto& spec : specs) texts.push_back(spec.to_string());
    return texts;
}

}  // namespace gpkg::tests
