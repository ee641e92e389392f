#pragma once

// A request of the command line as the solver is asked: put to an environment, to the pins, to the
// channels and to the machine.

#include "cli/workflow/change.hpp"
#include "cli/workflow/sources.hpp"
#include "libcore/asking/answering.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gpkg::cli {

struct Question : PosedRequest {
    fs::path prefix;  ///< empty: a new one, or none
    ChangeRequest::SpecsStand specs_stand = ChangeRequest::SpecsStand::InWords;
    bool is_dry_run = false;
    std::vector<Channel> channels;  ///< the most important first
    Machine machine;
};

/// One that asks for nothing yet, of these sources.
Question question_on(const Context& context, const Sources& sources);

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

/// What the command would ask with these changes made to it.
Result<Question> with_changes(Question question, const std::vector<ProblemChange>& changes);

/// The answers of libsolv's solver.
Result<Outcome> answer_to(Question& question);
Result<std::optional<Solution>> solution_of(Question& question);
Result<std::optional<std::string>> prefer_vendor(Question& question);

/// "CUDA build because h100 has an NVIDIA GPU", "... because accelerator nvidia is requested";
/// empty where neither decides.
std::string build_reason(const Question& question, const PackageRecord& record);

/// Prefers the vendor, and asks where that is in doubt, or fails where nobody can be asked.
Result<void> settle_vendor(Context& context, Question& question);

}  // namespace gpkg::cli
