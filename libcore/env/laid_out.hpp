#pragma once

// An environment as the files it consists of, none of which is made: what images and archives are
// written from, straight from the store.

#include "libcore/env/placeholder.hpp"
#include "libcore/env/transaction.hpp"

#include <functional>
#include <string>
#include <vector>

namespace gpkg {

struct LaidOutFile {
    enum class Type { Folder, SoftLink, File };

    Type type = Type::File;
    std::string path;  ///< relative to the prefix
    unsigned mode = 0644;
    fs::path source{};                  ///< has the bytes; empty: `content` is them
    std::vector<ByteChange> changes{};  ///< to the source's bytes
    std::string content{};              ///< of a soft link where it leads
    /// With LayOutOptions::relocatable what this file or link has in place of the prefix; empty
    /// where it does not name it.
    std::string placeholder{};
    bool binary = false;  ///< names it in strings that keep their lengths

    /// The bits of a mode of those whom its user does not let read it: 007, 077, or 0 for nobody.
    unsigned kept_from() const {
        if (type == Type::SoftLink || (mode & 004U) != 0) return 0;
        return (mode & 040U) != 0 ? 007 : 077;
    }
};

/// A soft link or file is handed over after the folder that it is in. The order is the same for the
/// same environment.
using TakeLaidOut = std::function<Result<void>(const LaidOutFile&)>;

struct LayOutOptions {
    TransactionOptions transaction;
    fs::path workplace;  ///< a folder for what is compiled; files handed over may be in it
    /// Files that name the prefix are handed over as they are in the package, with what they have
    /// in its place. What gpkg and `others` name is the transaction's.
    bool relocatable = false;
    fs::path original{};  ///< the environment that is laid out, where there is one
    /// What comes along, as copy_unowned() has put it into a folder: what belongs to no package,
    /// and what takes the place of a package's file. Its python sources are compiled where they are
    /// modules.
    fs::path others{};
    std::vector<std::string> removed{};  ///< files and folders of packages that are left out
};

/// Hands over what creating the environment would make: a transaction of nothing but packages to
/// link, whose prefix is never made and not looked at. Records name no place of the store, and the
/// history has the time that the transaction says, so that the same packages give the same files.
/// Link scripts do not run; warnings tell of those that should. Integrity where a file in the store
/// is not what its package promised, unless the original shares that file: then it is what somebody
/// made of it there, and a warning names it.
Result<std::vector<std::string>> lay_out(const Transaction& transaction,
                                         const LayOutOptions& options,
                                         const TakeLaidOut& take);

}  // namespace gpkg
