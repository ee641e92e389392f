#include "libcore/base/number.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/quota_internal.hpp"
#include "libcore/fs/system_user.hpp"
#include "libcore/process/process.hpp"

#include <algorithm>
#include <condition_variable>
#include <ctime>
#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <linux/fs.h>
#include <memory>
#include <mutex>
#include <sys/ioctl.h>
#include <sys/quota.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace gpkg {
namespace {

constexpr std::uint64_t kKiB = 1024;
constexpr int kProjects = 2;  // PRJQUOTA, which C libraries of 2020 do not have

/// Whose quotas count for new files at a place.
struct Owners {
    uid_t user = 0;
    gid_t group = 0;
    std::optional<std::uint32_t> project;
};

Owners owners_at(const fs::path& there) {
    Owners owners{::geteuid(), ::getegid(), std::nullopt};
    const Descriptor folder(::open(there.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    struct stat status {};
    if (!folder || ::fstat(folder.get(), &status) != 0) return owners;
    if ((status.st_mode & S_ISGID) != 0) owners.group = status.st_gid;
    struct fsxattr extended {};
    if (::ioctl(folder.get(), FS_IOC_FSGETXATTR, &extended) == 0 && extended.fsx_projid != 0)
        owners.project = extended.fsx_projid;
    return owners;
}

std::string user_text(uid_t user) {
    const auto known = system_user(user);
    return "user " + (known ? known->name : std::to_string(user));
}

std::string group_text(gid_t group) {
    struct group entry {};
    struct group* found = nullptr;
    char memory[4096];
    const bool known = ::getgrgid_r(group, &entry, memory, sizeof memory, &found) == 0 && found;
    return "group " + (known ? std::string(found->gr_name) : std::to_string(group));
}

std::string project_text(std::uint32_t project) { return fmt::format("project {}", project); }

/// Once the time is over for which the soft limit may be exceeded, it is a hard one.
void settle(QuotaLimit& limit, bool is_over) {
    if (limit.soft != 0 && limit.used > limit.soft && is_over) limit.limit = limit.soft;
    if (limit.soft == limit.limit) limit.soft = 0;
}

// What the kernel says of its own file systems.

std::optional<Quota> quota_of_kernel(const FileSystem& system,
                                     const fs::path& there,
                                     int type,
                                     std::uint32_t id) {
    struct dqblk block {};
    const int command = static_cast<int>(QCMD(Q_GETQUOTA, type));
    bool told = ::quotactl(command,
                           system.source.c_str(),
                           static_cast<int>(id),
                           reinterpret_cast<caddr_t>(&block)) == 0;
#ifdef SYS_quotactl_fd
    if (!told) {
        const Descriptor folder(::open(there.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        told = folder && ::syscall(SYS_quotactl_fd, folder.get(), command, id, &block) == 0;
    }
#else
    static_cast<void>(there);
#endif
    if (!told) return std::nullopt;
    const auto now = static_cast<std::uint64_t>(std::time(nullptr));
    Quota quota;
    quota.bytes = {block.dqb_curspace, block.dqb_bhardlimit * kKiB, block.dqb_bsoftlimit * kKiB};
    quota.files = {block.dqb_curinodes, block.dqb_ihardlimit, block.dqb_isoftlimit};
    settle(quota.bytes, block.dqb_btime != 0 && block.dqb_btime < now);
    settle(quota.files, block.dqb_itime != 0 && block.dqb_itime < now);
    return quota;
}

// What programs say.

/// A number that may be marked as beyond its limit (12*) or not known exactly ([12]).
std::optional<std::uint64_t> number_in(std::string_view word) {
    if (word.starts_with('[')) word.remove_prefix(1);
    while (!word.empty() && (word.back() == '*' || word.back() == ']')) word.remove_suffix(1);
    return whole_number<std::uint64_t>(word);
}

std::vector<std::string_view> words_in(std::string_view text) {
    std::vector<std::string_view> words;
    for (const auto word : split(text, ' ')) {
        if (!trim(word).empty()) words.push_back(trim(word));
    }
    return words;
}

/// "USED SOFT HARD GRACE USED SOFT HARD GRACE"; `is_over` judges a word of grace.
template <typename IsOver>
std::optional<Quota> quota_in(const std::vector<std::string_view>& words, const IsOver& is_over) {
    if (words.size() < 8) return std::nullopt;
    Quota quota;
    const auto read = [&](std::size_t from, QuotaLimit& limit, std::uint64_t unit) {
        const auto used = number_in(words[from]);
        const auto soft = number_in(words[from + 1]);
        const auto hard = number_in(words[from + 2]);
        if (!used || !soft || !hard) return false;
        limit = {*used * unit, *hard * unit, *soft * unit};
        settle(limit, is_over(words[from + 3]));
        return true;
    };
    if (!read(0, quota.bytes, kKiB) || !read(4, quota.files, 1)) return std::nullopt;
    return quota;
}

void add_lustre(Room& room, const Owners& owners, bool is_root, const AskProgram& ask) {
    const auto add = [&](const char* option, std::uint32_t id, std::string whose) {
        const auto output = ask(
            {"lfs", "quota", "-q", option, std::to_string(id), room.system.mount_point.native()});
        auto quota = output ? quota_told_by_lfs(*output) : std::nullopt;
        if (!quota) {
            room.trouble = "`lfs quota` gave no answer";
            return;
        }
        quota->whose = std::move(whose);
        room.quotas.push_back(*std::move(quota));
    };
    if (!is_root) {
        add("-u", owners.user, user_text(owners.user));
        add("-g", owners.group, group_text(owners.group));
    }
    if (owners.project) add("-p", *owners.project, project_text(*owners.project));
}

void add_nfs(Room& room, const Owners& owners, const AskProgram& ask) {
    const auto output =
        ask({"quota", "-v", "-w", "-p", "-u", "-g", "-f", room.system.mount_point.native()});
    if (!output) {
        room.trouble = "`quota` gave no answer";
        return;
    }
    for (auto& quota : quotas_told_by_quota(*output, std::time(nullptr))) {
        if (quota.whose.starts_with("user") || quota.whose == group_text(owners.group))
            room.quotas.push_back(std::move(quota));
    }
}

}  // namespace

std::optional<Quota> quota_told_by_lfs(std::string_view output) {
    // The name of the file system comes first, and a long one in a line of its own.
    std::vector<std::string_view> words;
    for (const auto line : split(output, '\n')) {
        for (const auto word : words_in(line)) words.push_back(word);
    }
    for (std::size_t from = 1; from + 8 <= words.size(); ++from) {
        const std::vector<std::string_view> row(words.begin() + static_cast<std::ptrdiff_t>(from),
                                                words.end());
        if (auto quota = quota_in(
                row, [](std::string_view grace) { return grace == "expired" || grace == "none"; }))
            return quota;
    }
    return std::nullopt;
}

std::vector<Quota> quotas_told_by_quota(std::string_view output, std::int64_t now) {
    constexpr std::string_view kHead = "Disk quotas for ";
    std::vector<Quota> quotas;
    std::string whose;
    for (const auto line : split(output, '\n')) {
        if (trim(line).starts_with(kHead)) {
            // "Disk quotas for user alice (uid 1000): "
            const auto rest = trim(line).substr(kHead.size());
            whose = rest.substr(0, rest.find(" ("));
            continue;
        }
        auto words = words_in(line);
        if (words.empty() || whose.empty()) continue;
        words.erase(words.begin());
        if (auto quota = quota_in(words, [&](std::string_view grace) {
                const auto until = number_in(grace);
                return until && *until != 0 && static_cast<std::int64_t>(*until) < now;
            })) {
            quota->whose = whose;
            quotas.push_back(*std::move(quota));
        }
    }
    return quotas;
}

void add_quotas(Room& room, const fs::path& there, const AskProgram& ask) {
    const auto owners = owners_at(there);
    const bool is_root = owners.user == 0;
    if (room.system.title == "Lustre") return add_lustre(room, owners, is_root, ask);
    if (room.system.title == "NFS") {
        if (!is_root) add_nfs(room, owners, ask);
        return;
    }
    if (room.system.is_shared) return;
    const auto add = [&](int type, std::uint32_t id, std::string whose) {
        auto quota = quota_of_kernel(room.system, there, type, id);
        if (!quota) return;
        quota->whose = std::move(whose);
        room.quotas.push_back(*std::move(quota));
    };
    if (!is_root) {
        add(USRQUOTA, owners.user, user_text(owners.user));
        add(GRPQUOTA, owners.group, group_text(owners.group));
    }
    // Of a project that the kernel does not tell about the free room is that of the project.
    if (owners.project) add(kProjects, *owners.project, project_text(*owners.project));
}

AskProgram ask_within(std::chrono::milliseconds longest) {
    return [longest](const std::vector<std::string>& words) -> std::optional<std::string> {
        if (find_program(words.front()).empty()) return std::nullopt;
        struct Answer {
            std::mutex mutex;
            std::condition_variable came;
            std::optional<Result<ProcessOutput>> output;
        };
        const auto answer = std::make_shared<Answer>();
        const auto deadline = std::chrono::steady_clock::now() + longest;
        // A program that waits inside the kernel for a server cannot even be killed.
        std::thread([answer, words, deadline] {
            ProcessCommand command;
            command.arguments = words;
            command.environment = {{"PATH", current_environment()["PATH"]}, {"LC_ALL", "C"}};
            command.cancelled = [&] { return std::chrono::steady_clock::now() > deadline; };
            auto output = run_and_capture(std::move(command));
            const std::lock_guard lock(answer->mutex);
            answer->output = std::move(output);
            answer->came.notify_all();
        }).detach();
        std::unique_lock lock(answer->mutex);
        constexpr auto kForKilling = std::chrono::milliseconds(200);
        answer->came.wait_until(
            lock, deadline + kForKilling, [&] { return answer->output.has_value(); });
        if (!answer->output || !*answer->output) return std::nullopt;
        // The status tells whether a quota is exceeded.
        return (*answer->output)->output;
    };
}

}  // namespace gpkg
