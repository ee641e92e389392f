#pragma once

// The way of packages into the channel. They are built into <work>/unpublished and stay there until
// somebody says that they are good; a run that is cut off leaves them there, for the next one. Then
// they move into the channel, each at once. What is not good moves to <work>/failed.

#include "libcore/build/built_package.hpp"

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace gpkg {

/// What publishing did to the channel.
enum class Published {
    Before,   ///< nothing: the package was published earlier
    New,      ///< added a file
    Same,     ///< replaced a file with the same bytes
    Changed,  ///< replaced a file with other bytes
};

class Publisher {
public:
    Publisher(fs::path channel, fs::path work);

    /// Where the package is built.
    fs::path unpublished(const std::string& subdir, const std::string& file_name) const;
    fs::path published(const std::string& subdir, const std::string& file_name) const;

    /// What its tests said.
    fs::path test_log(const BuiltPackage& package) const;
    bool is_tested(const BuiltPackage& package) const;
    /// Notes that the package, as it is now, passed its tests.
    Result<void> remember_tested(const BuiltPackage& package) const;

    /// Moves it into the channel, where readers see the file that was there before or this one. One
    /// that is there already stays as it is.
    Result<Published> publish(BuiltPackage& package) const;
    /// Puts aside one that is not good: the next run builds it again. One that was published
    /// earlier stays in the channel. Returns where it is now, for a hint.
    Result<std::string> withhold(const BuiltPackage& package) const;

private:
    fs::path channel_;
    fs::path work_;
};

/// The file as it is: its size and when it was written.
std::string stamp_of(const fs::path& file);
/// Where it is noted from what the package was built, whether it is published or not.
fs::path note_on(const fs::path& package, const fs::path& work);

/// Puts a link to an unpublished package into the channel folder `staging`.
Result<void> stage_package(const fs::path& package, const fs::path& staging);

/// A package, and one that it was built with.
using Heir = std::pair<const BuiltPackage*, std::string>;
/// Those that are not published and were built with one of the distributions `gone`, or with one
/// that was.
std::vector<Heir> heirs_of(const std::vector<BuiltPackage>& packages, std::set<std::string> gone);

}  // namespace gpkg
