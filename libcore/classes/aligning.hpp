#pragma once

// The same versions in all classes of a lock, as far as that can be had.

#include "libcore/classes/locked_classes.hpp"

#include <string>
#include <vector>

namespace gpkg {

/// Brings the classes' answers to the same versions, package by package: to the highest that all of
/// them can have. What was asked for comes first, in its order; then python; then what all classes
/// have; and last what only some have, so that a library for one kind of GPU says nothing about the
/// rest. Among equals it is the order in which a class settles them.
///
/// Each class is asked for what was agreed on from now on. Gives the packages for which nothing
/// was.
Result<std::vector<Divergence>> align_versions(std::vector<ClassProblem>& classes,
                                               std::vector<Solution>& answers,
                                               const Solve& solve);

/// What was asked for by name, in any class, and then python: whose minor version everything is
/// built for. What comes early in one class comes before what comes late in all.
std::vector<std::string> leading_names(const std::vector<ClassProblem>& classes);

}  // namespace gpkg
