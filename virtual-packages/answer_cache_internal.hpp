#pragma once

// What a driver or a detector said, kept until the next boot or until what it depends on is
// another, for a day at most.

#include "virtual-packages/host.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg::virtual_packages {

/// Ends a warning that comes from AnswerCache::read_unfinished().
inline constexpr std::string_view kAskedAgain = "; retried after two minutes";

/// The answers to one question, one file for each state of the machine it was asked in.
class AnswerCache {
public:
    /// `question` begins the files' names: "cuda". `facts` is all that an answer depends on, apart
    /// from the boot, the job and the loader's path. Keeps nothing where `folder` is empty or this
    /// boot has no name.
    AnswerCache(const Host& host,
                const fs::path& folder,
                std::string_view question,
                std::string_view facts);

    /// Nothing for an answer that is older than `lifetime`.
    std::optional<std::string> read(std::chrono::seconds lifetime = kLifetime) const;
    void write(std::string_view answer) const;
    /// What was said by one that then gave no answer in time, a moment ago. To ask it again costs
    /// every command that time, and may each time leave a process that nobody can end.
    std::optional<std::string> read_unfinished() const;
    void write_unfinished(std::string_view said) const;

    /// A day: long enough to spare the driver, short enough for what no key can see.
    static constexpr std::chrono::seconds kLifetime{24 * 60 * 60};
    static constexpr std::chrono::seconds kLifetimeOfUnfinished{2 * 60};

private:
    std::optional<std::string> read_as(std::string_view kind, std::chrono::seconds lifetime) const;
    void write_as(std::string_view kind, std::string_view text) const;
    fs::path file() const;
    std::int64_t now() const;
    void remove_expired() const;

    const Host& host_;
    fs::path folder_;
    std::string question_;
    std::string key_;  ///< empty: nothing is kept
};

/// Path, time and size of a file, as a text: one that was updated has another. Empty where there is
/// none.
std::string stamp(const fs::path& path);
/// Names in `folder` that begin with `prefix`, sorted.
std::vector<std::string> sorted_names(const fs::path& folder, std::string_view prefix);

}  // namespace gpkg::virtual_packages
