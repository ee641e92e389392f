#pragma once

// Deciding what a lock file holds: one request, solved for several classes of machines, with the
// same versions in all of them as far as that can be had.

#include "cli/workflow/ask/question.hpp"
#include "libcore/lock/lock_file.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace gpkg::cli {

/// The request as it is put to one class of machines.
struct ClassQuestion {
    std::string name;  ///< what --for names
    Question question;
    /// Whether the class remembers which of several accelerators was taken.
    bool tells_accelerator = false;
    /// What stays in the version that is locked, whatever others have.
    std::set<std::string> held{};
};

/// A package of which not all classes have the same version.
struct Divergence {
    std::string name;
    std::map<std::string, std::string> versions;  ///< by class; those without the package have none
    std::string of;  ///< the class that cannot have the lowest of the versions, or what is locked
    std::string reason;  ///< why, in a few lines
};

struct LockedClasses {
    LockFile lock;
    /// What classes would have where nobody wanted the same versions in all.
    std::vector<PackageRecord> each_alone;
    std::vector<Divergence> divergences;
    std::map<std::string, std::vector<std::string>> notes;  ///< by class
    std::vector<Channel> channels;  ///< of all classes, with the user's logins
};

/// What one class asks of its machine: its packages, and the request itself.
std::vector<std::string> needs_of(const Request& request, const Solution& answer);

/// Of what is to have one version in all, leaves out what the classes of an older lock had in these
/// very versions.
void leave_out_known(std::vector<Divergence>& divergences, const LockFile& old);

/// Decides each class, and then brings all to the same versions: a class that was locked before
/// holds to what it keeps. Unsatisfiable for the first class without a solution, which the message
/// names.
Result<LockedClasses> decide_and_align(Context& context, std::vector<ClassQuestion> classes);

/// The second half of it, for answers that there are: versions change, and where they cannot be the
/// same it is told (LockedClasses::divergences).
Result<LockedClasses> align_answers(Context& context,
                                    std::vector<ClassQuestion> classes,
                                    std::vector<Solution> answers);

/// A class for each answer as it is, whatever versions others have.
Result<LockFile> lock_of_answers(const std::vector<ClassQuestion>& classes,
                                 const std::vector<Solution>& answers);

}  // namespace gpkg::cli
