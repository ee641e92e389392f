#pragma once

// Shows how far a command is, on one line of a terminal that is redrawn in place: without escape
// codes where colours are off, in ASCII without UTF-8. Draws nothing where stderr is not a
// terminal.

#include "cli/output.hpp"
#include "libcore/net/get.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpkg::cli {

class Progress {
public:
    explicit Progress(const Output& out) : out_(out), on_(out.draws_progress()) {}
    ~Progress() { clear(); }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// "linking   120/276 packages  3 s left".
    void count(std::string_view doing, std::size_t done, std::size_t total, std::string_view what);
    /// "fetching  12/40  120 MB of 229 MB  35 MB/s  3 s left".
    void bytes(std::string_view doing,
               std::size_t done_items,
               std::size_t items,
               std::uint64_t done,
               std::uint64_t total);
    void clear();

private:
    using Clock = std::chrono::steady_clock;
    /// A part of the line. Where the line is too long, the part with the highest rank is left out.
    struct Part {
        std::string text;
        int rank = 0;  ///< 0: always shown
    };

    bool due();
    /// Progress per second in the last seconds; 0 as long as it is not known.
    double rate(std::string_view doing, double done);
    /// "3 s left"; empty as long as it would be a guess.
    std::string time_left(double done, double total, double rate);
    /// The parts that fit into so many columns, two spaces apart; always the most important one.
    static std::string joined(std::vector<Part> parts, std::size_t room);
    void draw(std::vector<Part> parts, double fraction);

    const Output& out_;
    bool on_ = false;
    std::size_t drawn_ = 0;  ///< columns
    std::mutex mutex_;
    Clock::time_point last_{};
    std::string doing_;  ///< what the samples are of
    std::deque<std::pair<Clock::time_point, double>> samples_;
    Clock::time_point started_{};    ///< when `doing_` began
    double first_done_ = 0;          ///< what was done then
    Clock::time_point estimated_{};  ///< when seconds_left_ was true
    double seconds_left_ = 0;        ///< 0: not known yet
};

/// Warns that a server asked to wait: one line for all files that wait until the same moment.
class WaitWarnings {
public:
    WaitWarnings(Output& out, Progress& progress) : out_(out), progress_(progress) {}
    void operator()(const TransferWait& wait);

private:
    Output& out_;
    Progress& progress_;
    std::map<std::string, std::chrono::steady_clock::time_point> told_;  ///< by server
};

}  // namespace gpkg::cli
