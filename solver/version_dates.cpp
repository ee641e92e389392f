#include "solver/version_dates.hpp"

#include "libcore/base/text.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <limits>
#include <numeric>

namespace gpkg::solver {
namespace {

constexpr std::int64_t kDay = std::int64_t{24} * 60 * 60 * 1000;
constexpr std::int64_t kUndated = 30 * kDay;
constexpr auto kNever = std::numeric_limits<std::int64_t>::max();

/// The candidates of one version, and what their timestamps say of it.
struct Release {
    std::vector<CandidateId> builds;
    std::int64_t first_build = kNever;  ///< kNever: no build has a timestamp
    bool is_allowed = false;
    bool is_prerelease = false;
    std::int64_t date = 0;
};

/// "2.0rc1", "3.0a2", "1.0.dev0"; but not "1.1.1w".
bool is_prerelease(const std::string& version) {
    constexpr auto kMarks = std::to_array<std::string_view>({"rc", "alpha", "beta", "dev", "pre"});
    const auto is_marked = [&](std::string_view mark) {
        return version.find(mark) != std::string::npos;
    };
    if (std::ranges::any_of(kMarks, is_marked)) return true;
    for (std::size_t i = 1; i + 1 < version.size(); ++i) {
        if ((version[i] == 'a' || version[i] == 'b') && is_digit(version[i - 1]) &&
            is_digit(version[i + 1]))
            return true;
    }
    return false;
}

/// The newest version first.
std::vector<Release> releases_of(const Universe& universe, NameId id) {
    const auto& name = universe.names()[id];
    std::vector<CandidateId> ids(name.end - name.begin);
    std::iota(ids.begin(), ids.end(), name.begin);
    std::stable_sort(ids.begin(), ids.end(), [&](auto a, auto b) {
        return universe.version_of(b) < universe.version_of(a);
    });
    std::vector<Release> releases;
    for (const auto one : ids) {
        if (releases.empty() ||
            universe.version_of(one) < universe.version_of(releases.back().builds.front())) {
            releases.emplace_back();
            releases.back().is_prerelease = is_prerelease(universe.version_of(one).to_string());
        }
        auto& release = releases.back();
        release.builds.push_back(one);
        if (!universe.is_as_requested(one)) continue;
        release.is_allowed = true;
        const auto timestamp = universe.candidates()[one].timestamp;
        if (timestamp > 0) release.first_build = std::min(release.first_build, timestamp);
    }
    return releases;
}

/// Releases that date others.
bool counts(const Release& release) { return release.is_allowed && !release.is_prerelease; }

/// The date that a release before the newest would have.
std::int64_t first_date(const std::vector<Release>& releases) {
    std::int64_t undated = kUndated;
    for (const auto& release : releases) {
        if (!counts(release)) continue;
        if (release.first_build != kNever) return release.first_build + undated;
        undated += kUndated;
    }
    return 0;
}

void set_dates(std::vector<Release>& releases) {
    auto date = first_date(releases);
    for (auto& release : releases) {
        if (counts(release))
            date = release.first_build == kNever ? date - kUndated
                                                 : std::min(date, release.first_build);
        release.date = release.is_prerelease ? std::min(date, release.first_build) : date;
    }
    // A pre-release is not older than the release before it.
    std::int64_t before = std::numeric_limits<std::int64_t>::min();
    for (auto release = releases.rbegin(); release != releases.rend(); ++release)
        before = release->date = std::max(release->date, before);
}

}  // namespace

std::vector<std::int64_t> version_ages(const Universe& universe, NameId name) {
    auto releases = releases_of(universe, name);
    set_dates(releases);
    const auto newest = std::ranges::find_if(releases, &Release::is_allowed);
    const auto begin = universe.names()[name].begin;
    std::vector<std::int64_t> ages(universe.names()[name].end - begin);
    for (const auto& release : releases) {
        for (const auto id : release.builds)
            ages[id - begin] = newest == releases.end() ? 0 : newest->date - release.date;
    }
    return ages;
}

std::string age_text(std::int64_t milliseconds) {
    const auto days = milliseconds / kDay;
    return fmt::format("{} day{}", days, days == 1 ? "" : "s");
}

}  // namespace gpkg::solver
