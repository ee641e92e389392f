#include "cli/workflow/build/slurm_failures.hpp"

#include "libcore/base/json_text.hpp"
#include "libcore/fs/own_program.hpp"

#include <csignal>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <vector>

namespace gpkg::cli {
namespace {

/// What Slurm ends a job with whose log it cannot open.
constexpr int kNoLogSignal = 53;

}  // namespace

std::string variant_text(const std::map<std::string, std::string>& variant) {
    std::vector<std::string> words;
    for (const auto& [key, value] : variant) {
        const bool is_shared = key == "target_platform" || key.starts_with("__");
        if (!is_shared) words.push_back(fmt::format("{}={}", key, value));
    }
    return fmt::format("{}", fmt::join(words, ", "));
}

void tell_place(Error& error, const TaskPlace& place) {
    const auto variant = variant_text(place.variant);
    const bool names_log = (error.message + error.hint).find(place.log) != std::string::npos;
    error.message += fmt::format("\n{}job {}{}{}",
                                 variant.empty() ? "" : fmt::format("variant {}; ", variant),
                                 place.job,
                                 place.node.empty() ? "" : " on " + place.node,
                                 names_log ? "" : "; log: " + place.log);
    auto details = nlohmann::ordered_json::object();
    if (!error.details.empty()) details = nlohmann::ordered_json::parse(error.details);
    details.update({{"package", place.distribution},
                    {"variant", place.variant},
                    {"node", place.node},
                    {"job", place.job},
                    {"state", place.state},
                    {"log", place.log}});
    error.details = json_text(details);
}

Error told_here(Error error, const fs::path& folder, const fs::path& work, const TaskPlace& place) {
    for (auto* text : {&error.message, &error.hint}) {
        for (std::size_t at = 0; (at = text->find(folder.native(), at)) != std::string::npos;)
            text->replace(at, folder.native().size(), work.native());
    }
    if (place.state == "OUT_OF_MEMORY")
        error.hint = "it needed more memory than it was given: --slurm-options '--mem=...'";
    tell_place(error, place);
    return error;
}

Error death_of(const std::optional<EndedTask>& ended, const std::string& job) {
    Error error{ErrorKind::Io, {}, {}, {}};
    if (!ended) {
        error.message = "it is gone from the queue without an answer, and Slurm has forgotten it";
        error.hint = fmt::format("where there is accounting, sacct -j {} tells more", job);
        return error;
    }
    const auto& state = ended->state;
    if (state == "TIMEOUT") {
        error.message = fmt::format("it took longer than its time limit of {}", ended->time_limit);
        error.hint = "--slurm-options '--time=...' gives it more";
    } else if (state == "OUT_OF_MEMORY") {
        error.message = "it needed more memory than it was given";
        error.hint = "--slurm-options '--mem=...' gives it more";
    } else if (state == "CANCELLED") {
        error.message = "it was cancelled";
    } else if (state == "NODE_FAIL" || state == "BOOT_FAIL") {
        error.message = "its node failed";
    } else if (state == "COMPLETED") {
        error.message = "it ended well, and its answer is not to be seen here";
        error.hint = "the work folder has to be on a file system that all machines share";
    } else if (state != "FAILED") {
        error.message = fmt::format("it was ended ({})", state);
    } else if (ended->signal == kNoLogSignal || ended->exit_code == kSeesNoFolder) {
        error.message = "its node does not see the work folder";
        error.hint =
            "the channel and its work folder (--work-dir) have to be on a file system that all "
            "machines share";
    } else if (ended->exit_code == kHasNoGpkg) {
        error.message = fmt::format("its node has no gpkg at {}",
                                    own_program().value_or("the place of this one").native());
        error.hint = "gpkg has to be at the same place on all machines";
    } else if (ended->signal != 0) {
        error.message = fmt::format("it was ended by signal {}", ended->signal);
        error.hint = ended->signal == SIGKILL
                         ? "a node that has no memory left does that: --slurm-options '--mem=...'"
                         : "";
    } else {
        error.message = fmt::format("it ended with exit status {}", ended->exit_code);
    }
    return error;
}

}  // namespace gpkg::cli
