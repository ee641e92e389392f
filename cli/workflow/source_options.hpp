#pragma once

#include <string>
#include <vector>

namespace gpkg::cli {

/// The flags that choose sources; every solving command takes them.
struct SourceOptions {
    std::vector<std::string> channels;  ///< -c, the most important first
    bool override_channels = false;     ///< only those, none of the configuration
    /// That specs ask for ("bioconda::samtools"). Where they are none of the others, they are the
    /// least important.
    std::vector<std::string> channels_of_specs;
    std::string channel_priority;  ///< strict, flexible or disabled; empty: as configured
    std::string platform;          ///< empty: the machine's
    std::string for_machine;       ///< a profile's file or name; empty: this machine
    std::string devices;  ///< which GPUs count, as DeviceChoice has it; empty: as configured
    bool offline = false;
    std::string exclude_newer;  ///< a date, a duration, an RFC 3339 time or Unix milliseconds
};

/// A lock file in place of a request.
struct LockedOptions {
    std::string file;         ///< empty: none
    std::string environment;  ///< empty: its default one
    /// Install packages although others of the lock say that they do not go together.
    bool allow_inconsistent = false;
};

}  // namespace gpkg::cli
