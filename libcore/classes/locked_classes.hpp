#pragma once

// From the answers for several classes of machines to a lock that holds them all.

#include "libcore/lock/lock_file.hpp"
#include "libcore/solve/solve.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace gpkg {

/// A request as it is put to the machines of one class, whose virtual packages the problem has.
struct ClassProblem {
    std::string name;      ///< "a100", as a lock has it
    std::string platform;  ///< the subdir
    Problem problem;
    /// Whether the class remembers which of several accelerators was taken.
    bool tells_accelerator = false;
    /// What stays in the version that is locked, whatever others have.
    std::set<std::string> held{};
};

/// A package of which not all classes have the same version.
struct Divergence {
    std::string name;
    std::map<std::string, std::string> versions;  ///< by class; those without the package have none
    std::string of;      ///< the class that cannot have the lowest of the versions, or a locked one
    std::string reason;  ///< why, in a few lines
};

struct LockedClasses {
    LockFile lock;  ///< its classes and packages
    /// What classes would have where nobody wanted the same versions in all.
    std::vector<PackageRecord> each_alone;
    std::vector<Divergence> divergences;
    std::map<std::string, std::vector<Note>> notes;  ///< by class
};

/// What one class asks of its machine: its packages, and the request itself.
std::vector<std::string> needs_of(const Request& request, const Solution& answer);

/// Why a version holds that a lock has, after the spec.
inline constexpr std::string_view kIsInLock = "is in the lock";

/// Of a class that is decided again, what is installed, was not named and is still there in its
/// version: from now on that holds.
void hold_what_stayed(ClassProblem& one, const Solution& answer);

/// Of its records, in alphabetical order: what an answer is known by.
std::vector<std::string> urls_of(const Solution& answer);

/// The lock of these answers, brought to the same versions: versions change, and where they cannot
/// be the same it is told. Every class has its answer.
Result<LockedClasses> align_answers(std::vector<ClassProblem> classes,
                                    std::vector<Solution> answers,
                                    const Solve& solve);

/// A class for each answer as it is, whatever versions others have.
Result<LockFile> lock_of_answers(const std::vector<ClassProblem>& classes,
                                 const std::vector<Solution>& answers);

/// Of what is to have one version in all, leaves out what the classes of an older lock had in these
/// very versions.
void leave_out_known(std::vector<Divergence>& divergences, const LockFile& old);

}  // namespace gpkg
