#pragma once

// The classes of a lock, as they are asked for and decided.

#include "cli/workflow/ask/question.hpp"
#include "libcore/classes/locked_classes.hpp"
#include "libcore/lock/lock_file.hpp"

#include <string>
#include <vector>

namespace gpkg::cli {

/// What is asked for of one class of machines, before anything is decided.
struct AskedClass {
    std::string name;  ///< what --for names
    Question question;
    LockRequest request;  ///< what a lock remembers of it
};

/// The same, for those who only decide.
Result<ClassProblem> problem_of(AskedClass one);

/// Decides each class, and then brings all to the same versions: a class that was locked before
/// holds to what it keeps. Unsatisfiable for the first class without a solution, which the message
/// names.
Result<LockedClasses> decide_and_align(Context& context, std::vector<AskedClass> classes);

}  // namespace gpkg::cli
