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
        error.hint = "the job ran out of memory; request more with --slurm-options '--mem=...'";
    tell_place(error, place);
    return error;
}

Error death_of(const std::optional<EndedTask>& ended, const std::string& job) {
    Error error{ErrorKind::Io, {}, {}, {}};
    if (!ended) {
        error.message = "the job left the queue without a result, and Slurm has no record of it";
        error.hint =
            fmt::format("if the cluster keeps accounting records, sacct -j {} shows more", job);
        return error;
    }
    const auto& state = ended->state;
    if (state == "TIMEOUT") {
        error.message = fmt::format("the job exceeded its time limit of {}", ended->time_limit);
        error.hint = "request more with --slurm-options '--time=...'";
    } else if (state == "OUT_OF_MEMORY") {
        error.message = "the job ran out of memory";
        error.hint = "request more with --slurm-options '--mem=...'";
    } else if (state == "CANCELLED") {
        error.message = "the job was cancelled";
    } else if (state == "NODE_FAIL" || state == "BOOT_FAIL") {
        error.message = "the node of the job failed";
    } else if (state == "COMPLETED") {
        error.message = "the job succeeded, but its result is not visible on this machine";
        error.hint = "put the work folder on a file system that all machines share";
    } else if (state != "FAILED") {
        error.message = fmt::format("the job was ended ({})", state);
    } else if (ended->signal == kNoLogSignal || ended->exit_code == kSeesNoFolder) {
        error.message = "the work folder does not exist on the node";
        error.hint =
            "put the channel and its work folder (--work-dir) on a file system that all "
            "machines share";
    } else if (ended->exit_code == kHasNoGpkg) {
        error.message = fmt::format("the node has no gpkg at {}",
                                    own_program().value_or("the path of this program").native());
        error.hint = "install gpkg at the same path on all machines";
    } else if (ended->signal != 0) {
        error.message = fmt::format("the job was killed by signal {}", ended->signal);
        error.hint = ended->signal == SIGKILL
                         ? "the node may have run out of memory; request more with --slurm-options "
                           "'--mem=...'"
                         : "";
    } else {
        error.message = fmt::format("the job failed with exit status {}", ended->exit_code);
    }
    return error;
}

}  // namespace gpkg::cli
