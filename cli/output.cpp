#include "cli/output.hpp"

#include "cli/table.hpp"
#include "libcore/base/json_text.hpp"
#include "libcore/base/text.hpp"
#include "libcore/net/url.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fcntl.h>
#include <fmt/format.h>
#include <iostream>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <unistd.h>
#include <utility>

namespace gpkg::cli {
namespace {

constexpr int kAnswerPollMilliseconds = 50;

constexpr char kEscape = '\x1b';
constexpr std::string_view kPlain = "\x1b[0m";
/// By Style.
constexpr auto kStyles = std::to_array<std::string_view>(
    {"\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[36m"});

/// A stream that cannot take it (a closed pipe, a full disk) remembers that; stdout_works() asks.
void write(std::FILE* stream, std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stream);
}

std::string styled_if(bool on, Style style, std::string_view text) {
    return on && !text.empty()
               ? fmt::format("{}{}{}", kStyles.at(static_cast<std::size_t>(style)), text, kPlain)
               : std::string(text);
}

/// Where a question is shown, while standard input is a terminal: on stderr, else on the terminal
/// itself, else on stdout. Closed again where it was opened.
class QuestionStream {
public:
    QuestionStream() {
        if (::isatty(STDERR_FILENO) != 0) {
            descriptor_ = STDERR_FILENO;
        } else if (const int terminal = ::open("/dev/tty", O_WRONLY | O_CLOEXEC | O_NOCTTY);
                   terminal >= 0) {
            descriptor_ = terminal;
            is_own_ = true;
        } else if (::isatty(STDOUT_FILENO) != 0) {
            descriptor_ = STDOUT_FILENO;
        }
    }
    ~QuestionStream() {
        if (is_own_) ::close(descriptor_);
    }
    QuestionStream(const QuestionStream&) = delete;
    QuestionStream& operator=(const QuestionStream&) = delete;

    bool is_open() const { return descriptor_ >= 0; }
    std::size_t width() const { return terminal_width(descriptor_).value_or(Screen::kUnlimited); }
    void write(std::string_view text) const {
        while (!text.empty()) {
            const auto count = ::write(descriptor_, text.data(), text.size());
            if (count <= 0) return;
            text.remove_prefix(static_cast<std::size_t>(count));
        }
    }

private:
    int descriptor_ = -1;
    bool is_own_ = false;
};

/// The names conda gives its exceptions, for scripts that look at them.
std::string_view exception_name(const Error& error) {
    if (!error.exception_name.empty()) return error.exception_name;
    switch (error.kind) {
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
    case ErrorKind::Interrupted:
    case ErrorKind::Cancelled: return "CondaSystemExit";
    case ErrorKind::DamagedCache:
    case ErrorKind::Overtaken: return "CondaError";
    }
    return "CondaError";
}

/// Removes what commands the terminal, except the styles of styled().
std::string with_own_styles(std::string_view text) {
    std::string shown;
    std::size_t begin = 0;
    for (auto at = text.find(kEscape); at != std::string_view::npos; at = text.find(kEscape, at)) {
        const auto rest = text.substr(at);
        const auto is_here = [&](auto style) { return rest.starts_with(style); };
        const auto style = std::find_if(kStyles.begin(), kStyles.end(), is_here);
        if (style == kStyles.end() && !is_here(kPlain)) {
            ++at;
            continue;
        }
        const auto known = style == kStyles.end() ? kPlain : *style;
        shown += without_controls(text.substr(begin, at - begin));
        shown += known;
        at += known.size();
        begin = at;
    }
    return shown + without_controls(text.substr(begin));
}

/// Hides the secrets of every text in the document.
void hide_secrets_in(nlohmann::ordered_json& document) {
    if (document.is_string()) document = hide_secrets(document.get<std::string>());
    if (!document.is_structured()) return;
    for (auto& part : document) hide_secrets_in(part);
}

/// The lines that trees are drawn with, in plain ASCII.
std::string with_ascii_lines(std::string text) {
    constexpr std::pair<std::string_view, std::string_view> kLines[] = {
        {"├─", "|-"}, {"└─", "`-"}, {"│", "|"}};
    for (const auto& [line, ascii] : kLines) text = replace_all(text, line, ascii);
    return text;
}

/// Without control characters and secrets: texts quote what users wrote, too.
std::string for_people(std::string_view text) { return without_controls(hide_secrets(text)); }

}  // namespace

namespace {

struct Control {
    unsigned code = 0;
    std::size_t size = 0;  ///< in bytes; 0: the text does not begin with one
};

/// A character that commands the terminal (C0, DEL, C1), or turns the direction of a line, which
/// then reads as another text (U+061C, U+200E, U+202A, U+2066 and theirs).
Control control_at(std::string_view text) {
    const auto byte = [&](std::size_t at) {
        return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
    };
    const auto first = byte(0);
    if (first < 0x20 || first == 0x7F)
        return first == '\n' || first == '\t' ? Control{} : Control{first, 1};
    if (first < 0xC0 || (byte(1) & 0xC0U) != 0x80) return {};
    const auto two = (first & 0x1FU) << 6U | (byte(1) & 0x3FU);
    if (first < 0xE0)
        return (two >= 0x80 && two < 0xA0) || two == 0x61C ? Control{two, 2} : Control{};
    if (first != 0xE2 || (byte(2) & 0xC0U) != 0x80) return {};
    const auto three = 0x2000U | (byte(1) & 0x3FU) << 6U | (byte(2) & 0x3FU);
    const bool turns = three == 0x200E || three == 0x200F || (three >= 0x202A && three <= 0x202E) ||
                       (three >= 0x2066 && three <= 0x2069);
    return turns ? Control{three, 3} : Control{};
}

}  // namespace

std::string without_controls(std::string_view text) {
    std::string plain;
    plain.reserve(text.size());
    for (std::size_t i = 0; i < text.size();) {
        const auto control = control_at(text.substr(i));
        if (control.size == 0)
            plain += text[i++];
        else if (control.code < 0x100)
            fmt::format_to(std::back_inserter(plain), "\\x{:02x}", control.code);
        else
            fmt::format_to(std::back_inserter(plain), "\\u{:04x}", control.code);
        i += control.size;
    }
    return plain;
}

Output::Output(EnvLookup environment) : environment_(std::move(environment)), results_(stdout) {
    set({});
}

void Output::set(OutputOptions options) {
    options_ = options;
    color_out_ = uses_color(options.color, STDOUT_FILENO, environment_);
    color_err_ = uses_color(options.color, STDERR_FILENO, environment_);
}

void Output::results_on_stderr(bool on) {
    std::fflush(results_);
    results_ = on ? stderr : stdout;
}

bool Output::draws_progress() const {
    return !options_.json && !options_.quiet && ::isatty(STDERR_FILENO) != 0 &&
           environment_("TERM").value_or("") != "dumb";
}

bool Output::can_ask() const {
    return !options_.json && ::isatty(STDIN_FILENO) != 0 && QuestionStream().is_open();
}

Screen Output::progress_screen() const {
    return {terminal_width(STDERR_FILENO).value_or(80), uses_utf8(environment_)};
}

Screen Output::screen() const {
    const auto width = terminal_width(results_ == stderr ? STDERR_FILENO : STDOUT_FILENO);
    return {width.value_or(Screen::kUnlimited), uses_utf8(environment_)};
}

void Output::print(std::string_view line) {
    if (!options_.quiet) result(line);
}

void Output::print(const Table& table) {
    if (!options_.quiet) result(table);
}

void Output::result(std::string_view text) { verbatim(word_wrapped(for_stdout(text), screen())); }

void Output::result(const Table& table) {
    for (const auto& line : table.lines(screen())) verbatim(for_stdout(line));
}

void Output::verbatim(std::string_view text) {
    if (!options_.json) write(results_, fmt::format("{}\n", text));
}

std::string Output::for_stdout(std::string_view text) const {
    auto shown = hide_secrets(text);
    if (!uses_utf8(environment_)) shown = with_ascii_lines(shown);
    return has_colors() ? with_own_styles(shown) : without_controls(shown);
}

std::string Output::for_stderr(const std::string& text) const {
    const auto width = terminal_width(STDERR_FILENO).value_or(Screen::kUnlimited);
    const bool utf8 = uses_utf8(environment_);
    return word_wrapped(utf8 ? text : with_ascii_lines(text), {width, utf8});
}

void Output::write_or_defer(std::string line) {
    line = for_stderr(line) + '\n';
    if (deferring_ > 0) return deferred_.push_back(std::move(line));
    std::fflush(results_);  // keeps the order of both in one log
    write(stderr, line);
}

void Output::show_deferred() {
    std::fflush(results_);
    for (const auto& line : std::exchange(deferred_, {})) write(stderr, line);
}

void Output::note(std::string_view line) {
    if (options_.json || options_.quiet) return;
    write_or_defer(for_people(line));
}

void Output::note_failure(std::string_view line) {
    last_error_ = hide_secrets(line);
    note(line);
}

void Output::note_once(const std::string& line) {
    if (shown_once_.insert(line).second) note(line);
}

void Output::warn_once(const std::string& line) {
    if (shown_once_.insert(line).second) warn(line);
}

void Output::warn(std::string_view line) {
    if (options_.quiet) return;
    write_or_defer(
        fmt::format("{} {}", styled_if(color_err_, Style::Yellow, "warning:"), for_people(line)));
}

void Output::tell(const Note& note, std::string_view of) {
    const auto text = of.empty() ? note.text() : fmt::format("{}: {}", of, note.text());
    if (note.is_warning) return warn(text);
    this->note("note: " + text);
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
    last_error_ = hide_secrets(error.to_string());
    show_deferred();
    if (options_.json) {
        nlohmann::ordered_json document{{"success", false},
                                        {"error", hide_secrets(error.to_string())},
                                        {"message", hide_secrets(error.message)},
                                        {"exception_name", exception_name(error)}};
        if (!error.hint.empty()) document["hint"] = hide_secrets(error.hint);
        if (!error.details.empty()) {
            auto details = nlohmann::ordered_json::parse(error.details);
            hide_secrets_in(details);
            document.update(details);
        }
        json(document);
        return;
    }
    std::fflush(stdout);
    if (error.kind == ErrorKind::Cancelled)
        return write(stderr, for_stderr(for_people(error.to_string())) + "\n");
    write(
        stderr,
        for_stderr(fmt::format(
            "{} {}", styled_if(color_err_, Style::Red, "error:"), for_people(error.to_string()))) +
            "\n");
}

std::optional<std::string> Output::ask(std::string_view question, const std::stop_token& stop) {
    if (!can_ask()) return std::nullopt;
    show_deferred();
    std::fflush(stdout);
    const QuestionStream terminal;
    const Screen screen{terminal.width(), uses_utf8(environment_)};
    terminal.write(word_wrapped(for_people(question), screen) + " ");
    // Signals only request a stop, so that waiting for the line itself would not end with Ctrl-C.
    struct pollfd input {
        STDIN_FILENO, POLLIN, 0
    };
    while (::poll(&input, 1, kAnswerPollMilliseconds) == 0) {
        if (!stop.stop_requested()) continue;
        terminal.write("\n");
        return std::nullopt;
    }
    std::string answer;
    if (std::getline(std::cin, answer)) return answer;
    terminal.write("\n");  // Ctrl-D does not end the line
    return std::nullopt;
}

std::optional<bool> Output::ask_yes_no(std::string_view question,
                                       bool is_yes_default,
                                       const std::stop_token& stop) {
    const auto answer =
        ask(fmt::format("{} {}", question, is_yes_default ? "[Y/n]" : "[y/N]"), stop);
    if (!answer) return std::nullopt;
    if (answer->empty()) return is_yes_default;
    return answer->starts_with('y') || answer->starts_with('Y');
}

std::string Output::styled(Style style, std::string_view text) const {
    return styled_if(has_colors(), style, without_controls(text));
}

std::string Output::styled_on_stderr(Style style, std::string_view text) const {
    return styled_if(color_err_, style, text);
}

bool Output::stdout_works() { return std::fflush(stdout) == 0 && std::ferror(stdout) == 0; }

bool Output::stdout_reader_left() {
    pollfd descriptor{STDOUT_FILENO, 0, 0};
    return ::poll(&descriptor, 1, 0) == 1 && (descriptor.revents & POLLERR) != 0;
}

}  // namespace gpkg::cli
