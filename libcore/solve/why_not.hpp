#pragma once

// Why the answer to a problem does not have a package, or has another record of it.

#include "libcore/base/error.hpp"
#include "libcore/solve/solve.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace gpkg {

struct WhyNot {
    enum class Verdict {
        Chosen,      ///< the answer has it
        NoAnswer,    ///< the problem has no solution in the first place
        Unknown,     ///< no channel has the name
        Impossible,  ///< no solution has it
        Unneeded,    ///< the answer has nothing of this name, which could be asked for
        LessGood,    ///< the answer could have it, and has a better record of the name
        Outranked,   ///< with it, something that is settled earlier could not have its best record
    };
    Verdict verdict = Verdict::Chosen;
    /// What the answer has of the name.
    std::optional<PackageRecord> chosen;
    /// The best record of the name that meets the spec; nothing where no solution has one.
    std::optional<PackageRecord> possible;
    /// NoAnswer, Unknown, Impossible, Outranked: the chain. Its fixes leave the spec as it is, but
    /// for Unknown, where they are names like it.
    Explanation explanation;
    /// LessGood: what `chosen` has over `possible`.
    std::string reason;
    /// How the best solution that has it differs from the answer: what the answer has, in the order
    /// of settling, then what only the other has, by name.
    struct Difference {
        std::optional<PackageRecord> now;
        std::optional<PackageRecord> then;
    };
    std::vector<Difference> differences;
};

/// What puts a record before another of its name that a problem could have as well, as a sentence
/// about the first: "is of a newer version".
using Advantage = std::function<Result<std::string>(
    const Problem&, const PackageRecord& better, const PackageRecord& other)>;

/// `spec` names one package. What an answer is: libcore/solve/answer.hpp.
Result<WhyNot> why_not(Problem problem,
                       const MatchSpec& spec,
                       const Solve& solve,
                       const Advantage& advantage);

}  // namespace gpkg
