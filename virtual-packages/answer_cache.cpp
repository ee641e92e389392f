#include "libcore/base/digest.hpp"
#include "libcore/base/number.hpp"
#include "libcore/base/text.hpp"
#include "virtual-packages/answer_cache_internal.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <sys/stat.h>
#include <system_error>
#include <utility>

namespace gpkg::virtual_packages {
namespace {

using std::chrono::duration_cast;
using std::chrono::seconds;

/// A clock that was set back would keep an answer too long.
constexpr seconds kMostAhead{5 * 60};
/// What a file is said to hold.
constexpr std::string_view kAnswer = "cache";
constexpr std::string_view kUnfinished = "unfinished";

std::string text_of(const fs::path& path) { return read_file(path).value_or(std::string()); }

std::string key_of(const Host& host, std::string_view facts) {
    const auto boot = text_of(host.root / "proc/sys/kernel/random/boot_id");
    if (trim(boot).empty()) return {};
    // A batch system hides devices from a job by its control group, and from nothing else.
    const auto all = fmt::format("boot {}\n{}search {}\ngroup {}\n",
                                 trim(boot),
                                 facts,
                                 host.env("LD_LIBRARY_PATH").value_or(""),
                                 text_of(host.root / "proc/self/cgroup"));
    return hex_digest(DigestKind::Sha256, all);
}

bool is_fresh(std::int64_t written, std::int64_t now, seconds lifetime) {
    return written <= now + kMostAhead.count() && now - written < lifetime.count();
}

}  // namespace

AnswerCache::AnswerCache(const Host& host,
                         const fs::path& folder,
                         std::string_view question,
                         std::string_view facts)
    : host_(host), folder_(folder), question_(question) {
    if (!folder.empty()) key_ = key_of(host, facts);
}

std::optional<std::string> AnswerCache::read(seconds lifetime) const {
    return read_as(kAnswer, lifetime);
}

std::optional<std::string> AnswerCache::read_unfinished() const {
    return read_as(kUnfinished, kLifetimeOfUnfinished);
}

void AnswerCache::write(std::string_view answer) const { write_as(kAnswer, answer); }

void AnswerCache::write_unfinished(std::string_view said) const { write_as(kUnfinished, said); }

std::optional<std::string> AnswerCache::read_as(std::string_view kind, seconds lifetime) const {
    if (key_.empty()) return std::nullopt;
    const auto text = read_file(file());
    if (!text) return std::nullopt;
    const auto lines = split(*text, '\n');
    if (lines.size() < 4 || lines[0] != fmt::format("gpkg-{}-{} 1", question_, kind) ||
        lines[1] != "key " + key_ || !lines[2].starts_with("written "))
        return std::nullopt;
    const auto written = whole_number<std::int64_t>(lines[2].substr(8));
    if (!written || !is_fresh(*written, now(), lifetime)) return std::nullopt;
    return text->substr(lines[0].size() + lines[1].size() + lines[2].size() + 3);
}

void AnswerCache::write_as(std::string_view kind, std::string_view text) const {
    if (key_.empty()) return;
    const auto whole =
        fmt::format("gpkg-{}-{} 1\nkey {}\nwritten {}\n{}", question_, kind, key_, now(), text);
    // A cache that cannot be written costs the next command the same time again, nothing else.
    if (write_file_atomically(file(), whole)) remove_expired();
}

fs::path AnswerCache::file() const {
    return folder_ / fmt::format("{}-{}.txt", question_, key_.substr(0, 16));
}

std::int64_t AnswerCache::now() const {
    return duration_cast<seconds>(host_.now().time_since_epoch()).count();
}

/// Answers of other boots and nodes that shared this folder.
void AnswerCache::remove_expired() const {
    for (const auto& name : sorted_names(folder_, question_ + "-")) {
        const auto path = folder_ / name;
        struct stat status {};
        if (!name.ends_with(".txt") || ::stat(path.c_str(), &status) != 0) continue;
        std::error_code ignored;
        if (now() - status.st_mtim.tv_sec >= kLifetime.count()) fs::remove(path, ignored);
    }
}

std::string stamp(const fs::path& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return {};
    return fmt::format("{} {}.{} {}",
                       path.native(),
                       status.st_mtim.tv_sec,
                       status.st_mtim.tv_nsec,
                       status.st_size);
}

std::vector<std::string> sorted_names(const fs::path& folder, std::string_view prefix) {
    std::vector<std::string> names;
    std::error_code code;
    for (fs::directory_iterator entry(folder, code), end; !code && entry != end;
         entry.increment(code))
        if (auto name = entry->path().filename().native(); name.starts_with(prefix))
            names.push_back(std::move(name));
    std::ranges::sort(names);
    return names;
}

}  // namespace gpkg::virtual_packages
