#include "libcore/fs/claim.hpp"

#include "libcore/base/text.hpp"
#include "libcore/fs/file.hpp"
#include "libcore/fs/process_identity.hpp"
#include "libcore/fs/temporary.hpp"

#include <cerrno>
#include <charconv>
#include <ctime>
#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace gpkg {
namespace {

// process 4711 on node3
// claim <world> <process> <its start> <a word that no other claim has> <Unix time>
constexpr std::string_view kClaimMark = "claim ";
constexpr std::size_t kWords = 6;
/// How many holders may have died one after the other while they took over from the one before.
constexpr int kDeepest = 8;

std::string new_claim() {
    const auto world = process_world();
    return fmt::format("{}\n{}{} {} {} {} {}\n",
                       this_process(),
                       kClaimMark,
                       world.empty() ? "unknown" : world,
                       ::getpid(),
                       process_start(::getpid()),
                       random_suffix(),
                       std::time(nullptr));
}

/// The words of the second line; none for what is no claim.
std::vector<std::string_view> words_of(std::string_view text) {
    const auto lines = split(text, '\n');
    if (lines.size() < 2 || !lines[1].starts_with(kClaimMark)) return {};
    auto words = split(lines[1], ' ');
    if (words.size() != kWords) words.clear();
    return words;
}

std::int64_t number_of(std::string_view word) {
    std::int64_t number = 0;
    std::from_chars(word.data(), word.data() + word.size(), number);
    return number;
}

/// What link(2) says where there are no hard links at all.
bool has_no_links(int code) {
    return code == EPERM || code == EOPNOTSUPP || code == ENOSYS || code == EMLINK ||
           code == EINVAL;
}

/// 0 or an errno. The claim appears with all its text or not at all, where there are hard links.
int make(const fs::path& file, const std::string& ready, const std::string& text) {
    if (::link(ready.c_str(), file.c_str()) == 0) return 0;
    const int code = errno;
    // A server's answer may get lost: what was asked is then done all the same.
    struct stat status {};
    if (::stat(ready.c_str(), &status) == 0 && status.st_nlink == 2) return 0;
    if (!has_no_links(code)) return code;
    const Descriptor made(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (!made) return errno;
    if (write_fully(made.get(), text)) return 0;
    const int trouble = errno;
    ::unlink(file.c_str());
    return trouble;
}

/// A file with the text of a claim, until it has become one.
class Ready {
public:
    Ready(const fs::path& file, const std::string& text) : path_(temporary_name(file)) {
        Descriptor made(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
        if (!made || !write_fully(made.get(), text) || !made.close()) code_ = errno;
    }
    Ready(const Ready&) = delete;
    Ready& operator=(const Ready&) = delete;
    ~Ready() { ::unlink(path_.c_str()); }
    int code() const { return code_; }
    const std::string& path() const { return path_; }

private:
    std::string path_;
    int code_ = 0;
};

}  // namespace

bool is_claim(std::string_view text) { return !words_of(text).empty(); }

bool is_claim_of_dead(std::string_view text) {
    const auto words = words_of(text);
    if (words.empty() || words[1] != process_world()) return false;
    const auto process = static_cast<pid_t>(number_of(words[2]));
    if (process <= 0) return false;
    if (is_gone(process)) return true;
    const auto start = process_start(process);
    return start != 0 && start != static_cast<std::uint64_t>(number_of(words[3]));
}

std::string claim_holder(std::string_view text) {
    std::string holder(trim(text.substr(0, text.find('\n'))));
    const auto words = words_of(text);
    if (words.empty()) return holder;
    const auto since = static_cast<std::time_t>(number_of(words[5]));
    return fmt::format("{}, since {:%Y-%m-%d %H:%M:%S} UTC", holder, fmt::gmtime(since));
}

Claim::Attempt Claim::try_to_take(const fs::path& file) { return try_to_take(file, 0); }

Claim::Attempt Claim::try_to_take(const fs::path& file, int depth) {
    const auto text = new_claim();
    const Ready ready(file, text);
    if (ready.code() != 0) return {std::nullopt, ready.code()};
    constexpr int kAttempts = 3;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        const int code = make(file, ready.path(), text);
        if (code == 0) return {Claim(file, text)};
        if (code != EEXIST) return {std::nullopt, code};
        const auto there = read_file(file);
        if (!there && there.error().kind == ErrorKind::NotFound) continue;
        if (!there || !is_claim_of_dead(*there) || depth == kDeepest) break;
        // Only who has the claim to succeed this one replaces it. All who want that are of the
        // machine of the dead, and so see its files alike.
        const auto next = fmt::format("{}.after-{}", file.native(), words_of(*there)[4]);
        const auto succession = try_to_take(next, depth + 1);
        if (!succession.claim) return {std::nullopt, succession.error};
        const auto still = read_file(file);
        if (!still || *still != *there) continue;
        if (::rename(ready.path().c_str(), file.c_str()) != 0) return {std::nullopt, errno};
        return {Claim(file, text)};
    }
    return {};
}

Claim::Claim(Claim&& other) noexcept
    : file_(std::move(other.file_)), text_(std::exchange(other.text_, {})) {}

Claim& Claim::operator=(Claim&& other) noexcept {
    std::swap(file_, other.file_);
    std::swap(text_, other.text_);
    return *this;
}

void Claim::release() {
    if (text_.empty()) return;
    const auto there = read_file(file_);
    if (there && *there == text_) ::unlink(file_.c_str());
    text_.clear();
}

}  // namespace gpkg
