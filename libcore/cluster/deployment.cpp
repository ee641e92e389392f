#include "libcore/cluster/deployment.hpp"

#include "libcore/base/byte_size.hpp"
#include "libcore/base/number.hpp"
#include "libcore/base/text.hpp"
#include "libcore/cluster/node_scripts_internal.hpp"
#include "libcore/fs/file_system.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <optional>

namespace gpkg {
namespace {

std::vector<std::string_view> split_at(std::string_view text, std::string_view mark) {
    std::vector<std::string_view> parts;
    for (std::size_t end = 0; (end = text.find(mark)) != std::string_view::npos;) {
        parts.push_back(text.substr(0, end));
        text.remove_prefix(end + mark.size());
    }
    parts.push_back(text);
    return parts;
}

/// As the scripts for nodes call it.
fs::path job_folder(const fs::path& folder, const SlurmJob& job) {
    return folder / ("gpkg-job-" + job.id);
}

/// What all nodes said of the folders.
struct Looked {
    std::vector<NodeAnswer> answers;

    /// Jobs other than this with a folder on some node.
    std::set<std::string> leftovers() const {
        std::set<std::string> jobs;
        for (const auto& answer : answers) {
            for (const auto& line : answer.lines) {
                if (line.word == "leftover" && line.values.size() == 2) jobs.insert(line.values[1]);
            }
        }
        return jobs;
    }
    /// Folders that some node could not take, with why.
    std::vector<NodeFailure> refusals(const NodePayload& payload) const;
    bool refuses(const fs::path& folder) const {
        for (const auto& answer : answers) {
            for (const auto& line : answer.lines) {
                if ((line.word == "refused" || line.word == "room") && line.value() == folder)
                    return true;
            }
        }
        return false;
    }
    /// The folder that every node has taken.
    std::optional<std::string> common() const {
        std::optional<std::string> folder;
        for (const auto& answer : answers) {
            const auto* at = answer.find("at");
            if (at == nullptr || (folder && *folder != at->value())) return std::nullopt;
            folder = at->value();
        }
        return folder;
    }
};

std::vector<NodeFailure> Looked::refusals(const NodePayload& payload) const {
    std::vector<NodeFailure> failures;
    for (const auto& answer : answers) {
        for (const auto& line : answer.lines) {
            if (line.word == "refused" && line.values.size() == 2)
                failures.push_back(
                    {answer.node, fmt::format("{}: {}", line.values[0], line.values[1])});
            if (line.word == "room" && line.values.size() == 3)
                failures.push_back(
                    {answer.node,
                     fmt::format(
                         "{}: {} free, {} needed",
                         line.values[0],
                         byte_size_text(whole_number<std::uint64_t>(line.values[1]).value_or(0)),
                         byte_size_text(payload.room))});
        }
    }
    return failures;
}

Result<Looked> look(const SlurmJob& job,
                    const NodePayload& payload,
                    const std::vector<fs::path>& folders) {
    NodeStep step;
    step.script = kLookScript;
    step.arguments = {job.id,
                      payload.name,
                      payload.is_pack ? "pack" : "image",
                      payload.sha256,
                      std::to_string(payload.room),
                      shared_types(),
                      local_fuse_types()};
    for (const auto& folder : folders) step.arguments.push_back(folder.native());
    GPKG_TRY(auto answers, run_on_nodes(job, step));
    auto failures = failures_of(answers);
    for (const auto& answer : answers) {
        if (answer.lines.empty()) failures.push_back({answer.node, "no response"});
    }
    if (!failures.empty()) return pass(error_of(failures, {}));
    return Looked{std::move(answers)};
}

Result<std::vector<NodeAnswer>> remove_folders(const SlurmJob& job,
                                               const std::set<std::string>& jobs,
                                               const std::vector<fs::path>& folders) {
    NodeStep step;
    step.script = kRemoveScript;
    step.arguments = {fmt::format("{}", fmt::join(jobs, " "))};
    for (const auto& folder : folders) step.arguments.push_back(folder.native());
    return run_on_nodes(job, step);
}

/// Those of ended jobs go. Where that cannot be told they stay: they are in nobody's way but for
/// their room.
std::vector<std::string> clean_up(const SlurmJob& job,
                                  std::set<std::string> jobs,
                                  const std::vector<fs::path>& folders) {
    const auto living = living_jobs(jobs, job.cancelled);
    if (!living) return {};
    std::erase_if(jobs, [&](const std::string& one) { return living->contains(one); });
    if (jobs.empty() || !remove_folders(job, jobs, folders)) return {};
    return {jobs.begin(), jobs.end()};
}

/// What other nodes made there, where it holds nothing: an earlier deployment of this job may be in
/// one.
void give_back(const SlurmJob& job, const std::vector<fs::path>& folders) {
    NodeStep step;
    step.script = kDropScript;
    step.arguments = {"none", ".none", ""};
    for (const auto& folder : folders) step.arguments.push_back(job_folder(folder, job).native());
    static_cast<void>(run_on_nodes(job, step));
}

/// Asks the nodes again until they agree: folders that one of them refuses are left out.
Result<Looked> agreed(const SlurmJob& job,
                      const NodePayload& payload,
                      std::vector<fs::path> folders,
                      Looked looked) {
    std::vector<NodeFailure> refusals;  // of all rounds: the first folder's reason counts most
    while (!looked.common()) {
        for (auto& failure : looked.refusals(payload)) refusals.push_back(std::move(failure));
        std::vector<fs::path> refused;
        std::vector<fs::path> left;
        for (const auto& folder : folders)
            (looked.refuses(folder) ? refused : left).push_back(folder);
        give_back(job, refused);
        if (left.empty() || refused.empty())
            return pass(error_of(refusals, "choose a local folder of every node with --to"));
        folders = std::move(left);
        GPKG_TRY(looked, look(job, payload, folders));
    }
    return looked;
}

}  // namespace

std::string_view name_of(CopyMethod method) {
    switch (method) {
    case CopyMethod::Sbcast: return "sbcast";
    case CopyMethod::Srun: return "srun";
    case CopyMethod::Read: return "read";
    case CopyMethod::Auto: break;
    }
    return "none";
}

Result<Placement> find_place(const SlurmJob& job,
                             const NodePayload& payload,
                             const std::vector<fs::path>& folders) {
    Placement placement;
    GPKG_TRY(auto looked, look(job, payload, folders));
    if (const auto jobs = looked.leftovers(); !jobs.empty()) {
        placement.cleaned = clean_up(job, jobs, folders);
        // They may have been what took the room.
        if (!placement.cleaned.empty() && !looked.common()) {
            GPKG_TRY(looked, look(job, payload, folders));
        }
    }
    GPKG_TRY(looked, agreed(job, payload, folders, std::move(looked)));
    placement.folder = job_folder(*looked.common(), job);
    for (const auto& answer : looked.answers) {
        if (answer.find("whole") == nullptr) placement.lacking.push_back(answer.node);
        const auto& at = *answer.find("at");
        placement.in_memory =
            placement.in_memory || (at.values.size() > 1 && at.values[1] == "tmpfs");
    }
    return placement;
}

Result<std::vector<std::string>> remove_deployed(const SlurmJob& job,
                                                 const std::vector<fs::path>& folders) {
    GPKG_TRY(const auto answers, remove_folders(job, {job.id}, folders));
    if (const auto failures = failures_of(answers); !failures.empty())
        return pass(error_of(failures, {}));
    std::vector<std::string> removed;
    for (const auto& answer : answers) {
        for (const auto& line : answer.lines) {
            if (line.word == "removed")
                removed.push_back(fmt::format("{}: {}", answer.node, line.value()));
        }
    }
    return removed;
}

std::string epilog_script(const std::vector<fs::path>& folders) {
    constexpr std::string_view kMark = "@FOLDERS@";
    std::string words;
    for (const auto& folder : folders) {
        words += words.empty() ? "" : " ";
        const auto parts = split_at(folder.native(), "$USER");
        for (std::size_t i = 0; i < parts.size(); ++i)
            words += (i == 0 ? "" : "\"$name\"") +
                     (parts[i].empty() ? std::string() : shell_word(parts[i]));
    }
    std::string script(kEpilogScript);
    script.replace(script.find(kMark), kMark.size(), words);
    return script;
}

}  // namespace gpkg
