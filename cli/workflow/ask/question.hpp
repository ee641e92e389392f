#pragma once

// A request as the solver is asked: put to what is installed, to the pins, to the channels and to
// the machine.

#include "cli/workflow/change.hpp"
#include "cli/workflow/sources.hpp"
#include "libcore/env/prefix.hpp"
#include "libcore/solve/solve.hpp"

#include <string>
#include <vector>

namespace gpkg::cli {

/// A spec that must hold whatever is asked.
struct Pin {
    MatchSpec spec;
    std::string place;  ///< where it is said, to be edited
};

/// What is there already, as far as it bears on a new request.
struct Present {
    std::vector<PrefixRecord> records;
    std::vector<MatchSpec> wishes;  ///< specs of earlier requests
    /// Where nobody recorded any: what nothing else needs, which counts as asked for where it would
    /// leave otherwise.
    std::vector<MatchSpec> leaves{};
    bool keeps_other_cpu = false;  ///< what is for another CPU stays in an update too
    std::vector<Pin> pins;
    GpkgState state;    ///< as far as it counts
    GpkgState on_disk;  ///< as it is
};

/// Nothing where there is no environment.
Result<Present> look_at(const fs::path& prefix);

struct Question {
    ChangeRequest wanted;  ///< its specs are the first of the problem's
    Present present;       ///< its pins are the first of the problem's constraints
    Problem problem;
    std::vector<Channel> channels;  ///< the most important first
    Machine machine;
};

/// Opens the sources that the request needs.
Result<Question> question_of(Context& context,
                             const SourceOptions& options,
                             const ChangeRequest& request);

/// The same with sources that are open.
Result<Question> question_of(Context& context,
                             const Sources& sources,
                             const ChangeRequest& request);

/// The same where what is there is in no prefix, but a class of a lock.
Result<Question> question_of(Context& context,
                             const Sources& sources,
                             const ChangeRequest& request,
                             Present present);

/// An accelerator that is asked for a package which no channel has would be heeded by nothing: an
/// error with near names. Of questions for several machines, one has to have it. question_of()
/// looks at those that are not for a lock.
Result<void> check_accelerator_names(const std::vector<const Question*>& questions);

/// Of what a plain update names, the builds that were asked for earlier, which it keeps: ffmpeg of
/// "ffmpeg=*=lgpl*". Not those that are named exactly: they have no other version.
std::vector<MatchSpec> builds_kept(const ChangeRequest& wanted, const Present& present);

/// The question as `present` is now.
Result<Question> asked_again(Question question);

/// Whether an update leaves out what is installed for another CPU.
bool leaves_out_other_cpu(const Question& question);

/// What the command would ask with these changes made to it: named is what is named then, and what
/// was asked for earlier counts again where nothing is named in its place.
Result<Question> with_changes(Question question, const std::vector<ProblemChange>& changes);

}  // namespace gpkg::cli
