#pragma once

#include "libcore/env/history.hpp"
#include "libcore/env/prefix_record.hpp"
#include "libcore/fs/file.hpp"
#include "libcore/spec/match_spec.hpp"

#include <string>
#include <vector>

namespace gpkg {

/// The specs that were asked for in an environment so far, in that order. What another tool wrote
/// may be beyond reading; it is passed over.
std::vector<MatchSpec> wishes_in(const std::vector<HistoryEntry>& history);
std::vector<MatchSpec> wishes_of(const fs::path& prefix);

/// The spec of that name among these wishes, else the bare name.
MatchSpec as_asked_before(const std::string& name, const std::vector<MatchSpec>& wishes);

/// What nothing else that is installed needs: where nobody recorded what was asked for, as in an
/// environment made of a list of packages, that is what counts as asked for.
std::vector<MatchSpec> leaves_of(const std::vector<PrefixRecord>& records);

}  // namespace gpkg
