#pragma once

// The `pip:` section of an environment.yml: handed to the pip of the environment once the conda
// packages are in place. What pip does is neither decided nor undone here.

#include "cli/context.hpp"
#include "libcore/net/url.hpp"
#include "libcore/spec/package_record.hpp"

#include <string>
#include <vector>

namespace gpkg::cli {

struct PipSection {
    enum class Dependencies { Install, Leave };

    fs::path file;  ///< where it is said; what is relative in it starts at its folder
    std::vector<std::string> requirements;  ///< lines of a requirements file
    Dependencies dependencies = Dependencies::Install;
    bool upgrade = false;     ///< installed packages that meet their requirement are upgraded too
    std::string url{};        ///< of the server that the file is from; empty: it is here
    bool is_of_lock = false;  ///< `file` is a lock file

    std::string name() const { return url.empty() ? file.native() : hide_secrets(url); }
};

/// Whether a line names a file or a project by its place beside the file: "-e .", "-r more.txt".
bool names_place_beside(std::string_view line);

/// Fails where a file that pip is to read is missing, or stands beside one on a server, and where
/// the environment, which will consist of these records, has no python to run pip with.
Result<void> check_pip_sections(const std::vector<PipSection>& sections,
                                const std::vector<PackageRecord>& records);

/// Says what pip would be asked for.
void print_pip_sections(Output& out, const std::vector<PipSection>& sections);

/// Runs `python -m pip install` inside the environment, once for each section; what it says goes to
/// stderr. The failure of one ends it; its hint is the command that does the rest. `offline`: pip
/// asks no index.
Result<void> install_pip_sections(Context& context,
                                  const fs::path& prefix,
                                  const std::vector<PipSection>& sections,
                                  bool offline);

}  // namespace gpkg::cli
