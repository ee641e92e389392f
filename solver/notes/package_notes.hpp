#pragma once

#include "solver/notes/notes.hpp"

#include <vector>

namespace gpkg::solver {

/// Which better version or build of a package is not selected, and why:
///
///   a newer version that this machine cannot have or does not run;
///   a newer version or a build for the machine's GPU that the installed one's channel,
///   accelerator, BLAS or MPI rules out;
///   a build for the machine's GPU, of this or another version;
///   a newer version of a package that is to be updated, or a noticeably newer one that others do
///   not go with or give way to (Trade).
///
/// For requested packages, packages to update, and GPU builds of dependencies.
std::vector<Note> package_notes(const Universe& universe,
                                const Selected& selected,
                                const WithSpec& with_spec);

}  // namespace gpkg::solver
