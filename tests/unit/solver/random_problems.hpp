#pragma once

// Small random problems, and a search that tries everything: it knows conda's rules from the
// records alone and takes only ranks and ages from the solver.

#include "libcore/solve/solve.hpp"
#include "libcore/spec/condition.hpp"
#include "tests/support/effort.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace gpkg::tests {

class Dice {
public:
    explicit Dice(std::uint32_t seed) : engine_(seed) {}
    /// 0 .. sides - 1, the same on every platform.
    std::uint32_t roll(std::uint32_t sides) {
        return static_cast<std::uint32_t>(engine_() % sides);
    }
    bool one_in(std::uint32_t sides) { return roll(sides) == 0; }
    std::mt19937& engine() { return engine_; }

private:
    std::mt19937 engine_;
};

Problem random_problem(Dice& dice);

class Exhaustive {
public:
    using Choice = std::map<std::string, PackageRecord>;

    explicit Exhaustive(const Problem& problem);

    /// Is there an environment with these names in it, beside what is requested?
    bool allows(const std::vector<std::string>& kept);

    /// What solver/improve.hpp promises, with these names in it.
    std::optional<Choice> best(const std::vector<std::string>& kept);

    /// Names, and the dependencies of theirs that apply to the choice as it is.
    std::vector<std::pair<std::string, std::string>> applying(const Choice& choice);

private:
    /// Names, and groups that somebody asks for of them.
    using Extras = std::set<std::pair<std::string, std::string>>;

    const MatchSpec& spec(const std::string& text);
    Extras requested_extras() const;
    static void ask_extras(const MatchSpec& spec, Extras& asked);
    bool applies(const MatchSpec& spec, const Choice& choice);
    static bool holds(const Condition& condition, const Choice& choice);
    std::optional<std::string> open_name(const Choice& choice);
    bool brings(const std::string& text) const;
    bool is_installed(const PackageRecord& record) const;
    bool completes(const Choice& choice);
    void prefer(const std::vector<std::string>& names, std::size_t place, const Choice& settled);
    void prefer_newest_together(const std::vector<std::string>& names, const Choice& settled);
    static std::vector<std::string> not_in(const Choice& settled,
                                           const std::vector<std::string>& names);
    Choice best_of_level_after_level();

    const Problem& problem_;
    struct Ranked {
        PackageRecord record;
        std::array<std::uint32_t, 4> places;  ///< as in Ranking
        std::int64_t age;
    };

    std::map<std::string, std::map<std::uint32_t, Ranked>> by_rank_;
    std::map<std::string, MatchSpec> specs_;
    std::map<std::string, Condition> conditions_;
    Choice machine_;
    std::vector<std::string> kept_;
};

/// Channel and file.
std::string line(const PackageRecord& record);
/// The problem as a person reads it, for a failure.
std::string describe(const Problem& problem);
/// How many random problems to try.
std::uint32_t problem_count();

}  // namespace gpkg::tests
