#pragma once

// What is installed in the environment that the user's flags mean, and how listings name it.

#include "cli/context.hpp"
#include "cli/options.hpp"
#include "libcore/env/prefix.hpp"
#include "libcore/manifest/spec_file.hpp"

#include <string>
#include <vector>

namespace gpkg::cli {

struct Installed {
    Prefix prefix;
    std::vector<PrefixRecord> records;  ///< by name
};

/// Changes nothing: warns of an environment that an interrupted command left unfinished, or that
/// was moved.
Result<Installed> read_installed(Context& context, const TargetOptions& target);

/// "conda-forge" for a channel that is known by name, else its URL; without secrets.
std::string channel_name(const Context& context, const std::string& url);
/// The same for people: "conda-forge", or the folder of a local channel.
std::string channel_title(const Context& context, const std::string& url);
/// "far and near were installed from /other, which is not searched; to search it: add -c /other"
std::string unsearched_text(const Context& context,
                            const std::vector<std::string>& names,
                            const std::string& url);

/// Which of these packages are older in `after`: "pytorch from 2.10.0 to 1.11.0".
std::vector<std::string> downgrades(const std::vector<std::string>& names,
                                    const std::vector<PrefixRecord>& before,
                                    const std::vector<PackageRecord>& after);

/// A spec of a record or of the history as a person types it.
std::string typed_spec(const std::string& spec);

/// An explicit file (CEP 23) with these records of the environment, without secrets. Fails where
/// nothing tells where one of them came from.
Result<std::string> explicit_text(Context& context,
                                  const fs::path& prefix,
                                  std::vector<PackageRecord> records,
                                  ExplicitChecksum checksum);

/// Warns of what the environment has and a list of its files does not tell.
Result<void> warn_of_what_files_lack(Context& context,
                                     const fs::path& path,
                                     const std::vector<PrefixRecord>& records);

}  // namespace gpkg::cli
