#pragma once

// One line on a terminal that says what is going on, redrawn in place. Draws nothing elsewhere.

#include "cli/output.hpp"
#include "libcore/net/get.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg::cli {

class Progress {
public:
    explicit Progress(const Output& out) : out_(out), on_(out.draws_progress()) {}
    ~Progress() { clear(); }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// "linking   120/276 packages".
    void count(std::string_view doing, std::size_t done, std::size_t total, std::string_view what);
    /// "fetching  12/40  120 MB of 229 MB  35 MB/s".
    void bytes(std::string_view doing,
               std::size_t done_items,
               std::size_t items,
               std::uint64_t done,
               std::uint64_t total);
    void clear();

private:
    bool due();
    void draw(const std::string& text, double fraction);

    const Output& out_;
    bool on_ = false;
    bool drawn_ = false;
    std::mutex mutex_;
    std::chrono::steady_clock::time_point last_{};
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Says that a server asked to wait, one line for all the files that wait for the same moment.
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
