#pragma once

// Small packages, unpacked, made on the spot; and folders as values, to compare them whole.

#include "libcore/env/transaction.hpp"

#include <map>
#include <string>
#include <vector>

namespace gpkg::samples {

struct File {
    std::string path;
    std::string content;        ///< of a soft link: where it leads
    std::string placeholder{};  ///< to be replaced
    bool binary = false;
    bool soft_link = false;
    bool no_link = false;
    unsigned mode = 0644;
};

struct Package {
    std::string name;
    std::string version = "1.0";
    std::vector<File> files{};
    std::string noarch{};
    std::vector<std::string> entry_points{};
    std::optional<std::string> site_packages{};

    PackageRecord record() const;
};

/// A store and the prefixes of one test, gone when it ends.
class World {
public:
    World();
    fs::path root() const { return root_.path(); }
    fs::path prefix() const { return root_.path() / "envs" / "test"; }

    /// Unpacks the package into the store, once.
    LinkRequest request(const Package& package, std::vector<std::string> specs = {});
    /// Creates the prefix, or adds to it.
    Result<TransactionReport> install(const std::vector<Package>& packages,
                                      const TransactionOptions& options = {});
    Result<TransactionReport> remove(const std::vector<std::string>& names,
                                     const TransactionOptions& options = {});
    PrefixRecord installed(const std::string& name) const;
    std::string text(const std::string& path) const;

private:
    TemporaryFolder root_;
};

/// Every path below `folder` but "": "file <mode> <content>", "link <target>" or "folder". Times
/// and what differs between two equal installations (history times) are left out.
std::map<std::string, std::string> tree_of(const fs::path& folder);

}  // namespace gpkg::samples
