#pragma once

// The classes of a lock, as they are asked for and decided.

#include "cli/workflow/ask/question.hpp"
#include "libcore/classes/locked_classes.hpp"

#include <string>
#include <vector>

namespace gpkg::cli {

/// The request as it is put to one class of machines.
struct ClassQuestion {
    std::string name;  ///< what --for names
    Question question;
    /// Whether the class remembers which of several accelerators was taken.
    bool tells_accelerator = false;
};

/// The same, for those who only decide.
ClassProblem problem_of(ClassQuestion one);

/// Decides each class, and then brings all to the same versions: a class that was locked before
/// holds to what it keeps. Unsatisfiable for the first class without a solution, which the message
/// names.
Result<LockedClasses> decide_and_align(Context& context, std::vector<ClassQuestion> classes);

}  // namespace gpkg::cli
