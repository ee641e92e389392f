#include "libcore/env/startup_file.hpp"

#include "libcore/base/text.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace gpkg {
namespace {

// The first line says what must go with the block besides itself.
constexpr std::string_view kBegin = "# >>> gpkg init >>>";
constexpr std::string_view kBeginAfterOpenLine =
    "# >>> gpkg init, after a line without a newline >>>";
constexpr std::string_view kBeginOwnFile = "# >>> gpkg init, in a new file >>>";
/// Earlier spellings, and what they stand for.
constexpr std::pair<std::string_view, std::string_view> kEarlierBegins[] = {
    {"# >>> gpkg init, behind a line without an end >>>", kBeginAfterOpenLine},
    {"# >>> gpkg init, in a file of its own >>>", kBeginOwnFile}};
constexpr std::string_view kEnd = "# <<< gpkg init <<<";
constexpr std::string_view kExplained =
    "# Written by `gpkg init`. `gpkg init --undo` removes this block, including your edits in it.";

/// Where a block is in a text: from its first line to behind its last.
struct Place {
    std::string_view begin;  ///< its first line
    std::size_t from = 0;
    std::size_t to = 0;
};

Result<std::optional<Place>> find_block(const fs::path& file, std::string_view text) {
    std::vector<Place> begins;
    std::vector<std::size_t> ends;  // behind the line and its break
    for (std::size_t at = 0; at < text.size();) {
        const auto line = text.substr(at, text.find('\n', at) - at);
        const auto next = std::min(at + line.size() + 1, text.size());
        for (const auto begin : {kBegin, kBeginAfterOpenLine, kBeginOwnFile}) {
            if (line == begin) begins.push_back({begin, at, 0});
        }
        for (const auto& [earlier, begin] : kEarlierBegins) {
            if (line == earlier) begins.push_back({begin, at, 0});
        }
        if (line == kEnd) ends.push_back(next);
        at = next;
    }
    if (begins.empty() && ends.empty()) return std::nullopt;
    if (begins.size() != 1 || ends.size() != 1 || ends.front() <= begins.front().from)
        return fail(
            ErrorKind::Conflict,
            fmt::format("{}: the marks of the gpkg block are damaged: {} begin and {} end marks",
                        file.native(),
                        begins.size(),
                        ends.size()),
            fmt::format("keep one line '{}' and one line '{}' after it, or neither, then run the "
                        "command again",
                        kBegin,
                        kEnd));
    begins.front().to = ends.front();
    return begins.front();
}

/// The file behind links; the path itself where there is none yet.
Result<fs::path> resolved(const fs::path& file) {
    std::error_code code;
    if (!fs::is_symlink(file, code)) return file;
    auto target = fs::canonical(file, code);
    if (code)
        return fail(ErrorKind::Conflict,
                    fmt::format("{}: broken link: {}", file.native(), code.message()),
                    "create the file that it points to, or remove the link");
    return target;
}

std::vector<std::string> other_blocks(std::string_view text) {
    std::vector<std::string> found;
    for (const std::string_view tool : {"conda", "mamba", "micromamba"}) {
        const auto line = fmt::format("# >>> {} initialize >>>", tool);
        const auto lines = split(text, '\n');
        if (std::find(lines.begin(), lines.end(), line) != lines.end()) found.emplace_back(tool);
    }
    return found;
}

Result<StartupChange> read(const fs::path& file) {
    StartupChange change;
    change.file = file;
    GPKG_TRY(change.target, resolved(file));
    std::error_code code;
    if (fs::exists(change.target, code) && !fs::is_regular_file(change.target, code))
        return fail(ErrorKind::Conflict,
                    fmt::format("{}: is not a regular file", change.target.native()));
    auto text = read_file(change.target, kLongestWritten);
    if (text) {
        change.others = other_blocks(*text);
        change.before = std::move(*text);
    } else if (text.error().kind != ErrorKind::NotFound) {
        return pass(text.error());
    }
    return change;
}

std::string block_of(std::string_view begin, std::string_view lines) {
    return fmt::format("{}\n{}\n{}{}\n", begin, kExplained, lines, kEnd);
}

}  // namespace

Result<StartupChange> with_startup_block(const fs::path& file, std::string_view lines) {
    GPKG_TRY(auto change, read(file));
    const auto text = change.before.value_or("");
    GPKG_TRY(const auto place, find_block(file, text));
    if (place) {
        change.renews = true;
        change.block = block_of(place->begin, lines);
        change.after = text.substr(0, place->from) + change.block + text.substr(place->to);
        return change;
    }
    const bool open = !text.empty() && !text.ends_with('\n');
    change.block =
        block_of(!change.before ? kBeginOwnFile : (open ? kBeginAfterOpenLine : kBegin), lines);
    change.after = text + (open ? "\n" : "") + change.block;
    return change;
}

Result<StartupChange> without_startup_block(const fs::path& file) {
    GPKG_TRY(auto change, read(file));
    change.after = change.before;
    const auto text = change.before.value_or("");
    GPKG_TRY(const auto place, find_block(file, text));
    if (!place) return change;
    change.block = text.substr(place->from, place->to - place->from);
    auto front = text.substr(0, place->from);
    const auto rest = text.substr(place->to);
    // What was written behind the block since needs the line break that came with it.
    if (place->begin == kBeginAfterOpenLine && rest.empty() && front.ends_with('\n'))
        front.pop_back();
    change.after = front + rest;
    if (place->begin == kBeginOwnFile && change.after->empty()) change.after.reset();
    return change;
}

Result<void> check_writable(const StartupChange& change) {
    struct stat status {};
    if (::stat(change.target.c_str(), &status) != 0) return {};  // made anew
    const bool locked = (status.st_mode & (S_IWUSR | S_IWGRP | S_IWOTH)) == 0;
    if (!locked && ::access(change.target.c_str(), W_OK) == 0) return {};
    return fail(
        ErrorKind::Io,
        fmt::format("{}: is read-only", change.target.native()),
        "make it writable, or add the lines by another way: gpkg init --dry-run shows them");
}

Result<void> carry_out(const StartupChange& change) {
    GPKG_CHECK(check_writable(change));
    if (!change.after) {
        std::error_code code;
        fs::remove(change.target, code);
        if (code) return pass(io_error(change.target, "remove", code.value()));
        return {};
    }
    struct stat status {};
    const bool is_there = ::stat(change.target.c_str(), &status) == 0;
    GPKG_TRY(auto file, NewFile::make(change.target));
    GPKG_CHECK(file.write(*change.after));
    if (is_there && (::fchown(file.fd(), status.st_uid, status.st_gid) != 0 ||
                     ::fchmod(file.fd(), status.st_mode & 07777U) != 0))
        return fail(ErrorKind::Io,
                    fmt::format("{}: cannot keep its owner and mode: {}",
                                change.target.native(),
                                std::strerror(errno)));
    return file.finish(true);
}

}  // namespace gpkg
