#include "cli/output.hpp"

#include "libcore/base/json_text.hpp"
#include "libcore/net/url.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fmt/format.h>
#include <iostream>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace gpkg::cli {
namespace {

constexpr int kAnswerPollMilliseconds = 50;

constexpr char kEscape = '\x1b';
/// What bold() and faint() begin and end with.
constexpr auto kResultStyles = std::to_array<std::string_view>({"\x1b[0m", "\x1b[1m", "\x1b[2m"});

/// A stream that cannot take it (a closed pipe, a full disk) remembers that; stdout_is_well() asks.
void write(std::FILE* stream, std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stream);
}

std::string styled(bool on, std::string_view style, std::string_view text) {
    return on ? fmt::format("\x1b[{}m{}\x1b[0m", style, text) : std::string(text);
}

/// The names conda gives its exceptions, for scripts that look at them.
std::string_view exception_name(ErrorKind kind) {
    switch (kind) {
    case ErrorKind::Parse: return "InvalidSpec";
    case ErrorKind::NotFound: return "PackagesNotFoundError";
    case ErrorKind::NoEnvironment: return "EnvironmentLocationNotFound";
    case ErrorKind::NoChannel: return "UnavailableInvalidChannel";
    case ErrorKind::NoWishFile: return "EnvironmentFileNotFound";
    case ErrorKind::Io: return "CondaOSError";
    case ErrorKind::Network: return "CondaHTTPError";
    case ErrorKind::Integrity: return "ChecksumMismatchError";
    case ErrorKind::Unsatisfiable: return "UnsatisfiableError";
    case ErrorKind::Unsupported: return "CondaError";
    case ErrorKind::Conflict: return "CondaValueError";
    case ErrorKind::Usage: return "ArgumentError";
    case ErrorKind::Interrupted: return "CondaSystemExit";
    case ErrorKind::DamagedCache: return "CondaError";
    }
    return "CondaError";
}

}  // namespace

std::string without_controls(std::string_view text) {
    std::string plain;
    plain.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0;
        const bool is_wide = byte == 0xC2 && next >= 0x80 && next < 0xA0;
        const bool is_control = byte < 0x20 ? byte != '\n' && byte != '\t' : byte == 0x7F;
        if (is_wide || is_control) {
            fmt::format_to(std::back_inserter(plain), "\\x{:02x}", is_wide ? next : byte);
            i += is_wide ? 1 : 0;
        } else {
            plain += text[i];
        }
    }
    return plain;
}

namespace {

/// Nothing that commands the terminal but bold() and faint().
std::string with_own_styles(std::string_view text) {
    std::string shown;
    std::size_t begin = 0;
    for (auto at = text.find(kEscape); at != std::string_view::npos; at = text.find(kEscape, at)) {
        const auto style = std::find_if(kResultStyles.begin(), kResultStyles.end(), [&](auto one) {
            return text.substr(at).starts_with(one);
        });
        if (style == kResultStyles.end()) {
            ++at;
            continue;
        }
        shown += without_controls(text.substr(begin, at - begin));
        shown += *style;
        at += style->size();
        begin = at;
    }
    return shown + without_controls(text.substr(begin));
}

/// Nothing that commands the terminal, and no secret: texts quote what users wrote, too.
std::string for_people(std::string_view text) { return without_controls(hide_secrets(text)); }

}  // namespace

Output::Output(bool no_color)
    : results_(stdout),
      color_out_(!no_color && ::isatty(STDOUT_FILENO) != 0),
      color_err_(!no_color && ::isatty(STDERR_FILENO) != 0) {}

void Output::results_on_stderr(bool on) {
    std::fflush(results_);
    results_ = on ? stderr : stdout;
}

bool Output::draws_progress() const {
    return !options_.json && !options_.quiet && ::isatty(STDERR_FILENO) != 0;
}

bool Output::can_ask() const {
    return !options_.json && ::isatty(STDIN_FILENO) != 0 && ::isatty(STDERR_FILENO) != 0;
}

int Output::width() const {
    struct winsize size {};
    if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    return 80;
}

void Output::print(std::string_view line) {
    if (!options_.quiet) result(line);
}

void Output::result(std::string_view text) { verbatim(plain_or_styled(text)); }

void Output::verbatim(std::string_view text) {
    if (!options_.json) write(results_, fmt::format("{}\n", text));
}

std::string Output::plain_or_styled(std::string_view text) const {
    return has_colors() ? with_own_styles(text) : without_controls(text);
}

void Output::note(std::string_view line) {
    if (options_.json || options_.quiet) return;
    std::fflush(results_);  // one log of both has them in their order
    write(stderr, for_people(line) + "\n");
}

void Output::note_once(const std::string& line) {
    if (told_.insert(line).second) note(line);
}

void Output::warn_once(const std::string& line) {
    if (told_.insert(line).second) warn(line);
}

void Output::warn(std::string_view line) {
    if (options_.quiet) return;
    std::fflush(results_);
    write(stderr, fmt::format("{} {}\n", styled(color_err_, "33", "warning:"), for_people(line)));
}

void Output::relay(std::string_view bytes) {
    if (options_.quiet) return;
    std::fflush(stdout);
    write(stderr, bytes);
}

void Output::json(const nlohmann::ordered_json& document) {
    write(results_, json_text(document, 2) + "\n");
}

void Output::json(const nlohmann::ordered_json& document, const NextItem& next) {
    const auto text = json_text(document, 2);
    const auto end = text.rfind(']');
    write(results_, std::string_view(text).substr(0, end));
    for (std::string_view separator = "\n"; const auto item = next(); separator = ",\n") {
        write(results_, separator);
        write(results_, json_text(*item));
    }
    write(results_, std::string_view(text).substr(end));
    write(results_, "\n");
}

void Output::error(const Error& error) {
    if (options_.json) {
        nlohmann::ordered_json document{{"success", false},
                                        {"error", hide_secrets(error.to_string())},
                                        {"message", hide_secrets(error.message)},
                                        {"exception_name", exception_name(error.kind)}};
        if (!error.hint.empty()) document["hint"] = hide_secrets(error.hint);
        if (!error.details.empty())
            document.update(nlohmann::ordered_json::parse(hide_secrets(error.details)));
        json(document);
        return;
    }
    std::fflush(stdout);
    write(
        stderr,
        fmt::format("{} {}\n", styled(color_err_, "31", "error:"), for_people(error.to_string())));
}

std::optional<std::string> Output::ask(std::string_view question, const std::stop_token& stop) {
    if (!can_ask()) return std::nullopt;
    std::fflush(stdout);
    write(stderr, fmt::format("{} ", question));
    // Signals only request a stop, so that waiting for the line itself would not end with Ctrl-C.
    struct pollfd input {
        STDIN_FILENO, POLLIN, 0
    };
    while (::poll(&input, 1, kAnswerPollMilliseconds) == 0) {
        if (!stop.stop_requested()) continue;
        write(stderr, "\n");
        return std::nullopt;
    }
    std::string answer;
    if (!std::getline(std::cin, answer)) return std::nullopt;
    return answer;
}

bool Output::confirm(std::string_view question, const std::stop_token& stop) {
    if (!can_ask()) return true;
    const auto answer = ask(fmt::format("{} [Y/n]", question), stop);
    return answer && (answer->empty() || answer->front() == 'y' || answer->front() == 'Y');
}

std::string Output::bold(std::string_view text) const {
    return styled(has_colors(), "1", without_controls(text));
}
std::string Output::faint(std::string_view text) const {
    return styled(has_colors(), "2", without_controls(text));
}

bool Output::stdout_is_well() { return std::fflush(stdout) == 0 && std::ferror(stdout) == 0; }

bool Output::stdout_reader_left() {
    pollfd descriptor{STDOUT_FILENO, 0, 0};
    return ::poll(&descriptor, 1, 0) == 1 && (descriptor.revents & POLLERR) != 0;
}

}  // namespace gpkg::cli
