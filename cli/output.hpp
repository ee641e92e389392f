#pragma once

// Prints everything that gpkg says and asks. Results go to stdout; notes, warnings, errors,
// progress and questions to stderr. With --json, stdout gets exactly one JSON document, errors
// included.

#include "cli/terminal.hpp"
#include "libcore/base/byte_size.hpp"
#include "libcore/base/env_lookup.hpp"
#include "libcore/base/error.hpp"
#include "libcore/solve/note.hpp"

#include <cstdint>
#include <cstdio>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg::cli {

class Table;

struct OutputOptions {
    bool json = false;
    bool quiet = false;
    int verbose = 0;
    ColorChoice color = ColorChoice::Auto;
    bool yes = false;  ///< -y or the setting always_yes: nothing is asked that they answer
};

enum class Style { Bold, Faint, Red, Green, Yellow, Cyan };

class Output {
public:
    explicit Output(EnvLookup environment);

    void set(OutputOptions options);
    bool json_mode() const { return options_.json; }
    bool verbose() const { return options_.verbose > 0; }
    /// How often -v was given.
    int verbosity() const { return options_.verbose; }
    /// Whether note() prints anything.
    bool takes_notes() const { return !options_.json && !options_.quiet; }
    /// Progress may be drawn: stderr is a terminal that can redraw a line, and neither --json nor
    /// -q is given.
    bool draws_progress() const;
    /// A person can be asked: standard input is a terminal. Where stderr goes does not matter.
    bool can_ask() const;
    /// -y or the setting always_yes was given.
    bool yes() const { return options_.yes; }
    /// Of the terminal that progress is drawn on.
    Screen progress_screen() const;
    /// Of the results: as wide as their terminal, unlimited in files and pipes.
    Screen screen() const;

    /// A line of the result; not in JSON mode, not with -q. Control characters except line ends and
    /// tabs are written out, and on a terminal long lines are wrapped: here and in all that follows
    /// but verbatim() and relay().
    void print(std::string_view line);
    void print(const Table& table);
    /// What the user asked to see, with -q as well; not in JSON mode.
    void result(std::string_view text);
    void result(const Table& table);
    /// The same for what a program reads, byte by byte: a shell's code, a path, a file's text.
    void verbatim(std::string_view text);
    /// A remark on stderr, not with -q or --json.
    void note(std::string_view line);
    /// A note that says why the exit status is 1; kept for the log of commands with -q and --json,
    /// too.
    void note_failure(std::string_view line);
    void warn(std::string_view line);
    /// A note or a warning of a solve; `of`: the hardware class that it is about.
    void tell(const Note& note, std::string_view of = {});
    /// The same for what several parts of one command come across.
    void note_once(const std::string& line);
    void warn_once(const std::string& line);
    /// What a program that was started says, as it comes: on stderr, not with -q.
    void relay(std::string_view bytes);
    /// The one document of a --json run. Ends with a newline.
    void json(const nlohmann::ordered_json& document);
    using NextItem = std::function<std::optional<nlohmann::ordered_json>()>;
    /// The same with what `next` gives in the empty list that ends the document: for lists that are
    /// too long to be held.
    void json(const nlohmann::ordered_json& document, const NextItem& next);
    /// The failure, as text on stderr or as the JSON document.
    void error(const Error& error);
    /// The last one, or the last note_failure(), for the log of commands; empty: none.
    const std::string& last_error() const { return last_error_; }

    /// Notes and warnings that were deferred, see DeferredNotes.
    void show_deferred();

    /// The answer to `question` of the person at the terminal; nothing without a terminal, or for
    /// Ctrl-C.
    std::optional<std::string> ask(std::string_view question, const std::stop_token& stop);
    /// The same for "Proceed? [Y/n]" or, where yes is not the default, "Remove it? [y/N]".
    std::optional<bool> ask_yes_no(std::string_view question,
                                   bool is_yes_default,
                                   const std::stop_token& stop);

    /// For results and prints.
    std::string styled(Style style, std::string_view text) const;
    std::string bold(std::string_view text) const { return styled(Style::Bold, text); }
    std::string faint(std::string_view text) const { return styled(Style::Faint, text); }
    /// For progress: on stderr.
    std::string styled_on_stderr(Style style, std::string_view text) const;

    /// False once stdout could not take what was written (a closed pipe, a full disk).
    bool stdout_works();
    /// Nobody reads the pipe any more, as with `gpkg list | head`: nothing to complain about.
    static bool stdout_reader_left();

private:
    friend class DeferredNotes;
    friend class ResultsAside;

    void results_on_stderr(bool on);
    bool has_colors() const { return results_ == stderr ? color_err_ : color_out_; }
    /// Without secrets and foreign control characters, in ASCII lines where the locale is not
    /// UTF-8.
    std::string for_stdout(std::string_view text) const;
    /// Wrapped for the terminal that stderr is.
    std::string for_stderr(const std::string& text) const;
    void write_or_defer(std::string line);

    EnvLookup environment_;
    OutputOptions options_;
    int deferring_ = 0;
    std::string last_error_;
    std::vector<std::string> deferred_;
    std::set<std::string, std::less<>> shown_once_;  ///< lines of note_once() and warn_once()
    std::FILE* results_;
    bool color_out_ = false;
    bool color_err_ = false;
};

/// While this lives, results and JSON documents go to stderr: stdout belongs to another program,
/// such as the one that gpkg is going to become.
class ResultsAside {
public:
    explicit ResultsAside(Output& out) : out_(out) { out_.results_on_stderr(true); }
    ~ResultsAside() { out_.results_on_stderr(false); }
    ResultsAside(const ResultsAside&) = delete;
    ResultsAside& operator=(const ResultsAside&) = delete;

private:
    Output& out_;
};

/// While this lives, notes and warnings are kept back: they are shown below the plan, next to the
/// question. Without a plan they are shown before an error, and at the end.
class DeferredNotes {
public:
    explicit DeferredNotes(Output& out) : out_(out) { ++out_.deferring_; }
    ~DeferredNotes() { --out_.deferring_; }
    DeferredNotes(const DeferredNotes&) = delete;
    DeferredNotes& operator=(const DeferredNotes&) = delete;

private:
    Output& out_;
};

/// Texts quote what servers and packages say. Of it nothing may command the terminal or turn the
/// direction of a line: such characters are written out (\x1b, \x9b, \u202e). Line ends and tabs
/// stay.
std::string without_controls(std::string_view text);

/// "17.3 MB"
inline std::string human_size(std::uint64_t bytes) { return byte_size_text(bytes); }

}  // namespace gpkg::cli
