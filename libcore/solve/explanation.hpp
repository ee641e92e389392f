#pragma once

// Why a request has no solution and what would help, as data. Text and JSON are made from it.

#include "libcore/spec/package_record.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// What a machine has of the virtual package `name`, as people call it: "node7 has a driver for
/// CUDA 12.8 (__cuda)", "h100 is assumed to have glibc 2.28 (__glibc)". `there` is null if it has
/// none.
std::string machine_fact(std::string_view machine,
                         std::string_view name,
                         const PackageRecord* there);

/// One step of a clash. Leave any line out and what the others say has a solution.
struct ExplanationLine {
    enum class Kind {
        Request,  ///< the user asks for `specs`
        Pin,      ///< `specs` restricts, for the `reason`
        Asks,     ///< candidates of `name` depend on or constrain `target`: `specs`
        Machine,  ///< of the virtual package `name` the machine has `versions`
        Offer,    ///< no candidate of `name` meets what is asked of it
        Present,  ///< `versions` of `name` are left, and with them a condition above holds
    };
    Kind kind = Kind::Request;
    int depth = 0;       ///< 0 for the user's own specs
    std::string name;    ///< the package this is about
    std::string target;  ///< Asks: the package asked for
    /// Every distinct spec that is meant, as a person would write it.
    std::vector<std::string> specs;
    /// The same, told shortly: alternatives joined where together they are one range.
    std::vector<std::string> asks;
    bool some_need = false;      ///< Asks: `target` has to be there
    bool some_restrict = false;  ///< Asks: `target` may be absent, else has to fit
    /// Asks: the builds of `name` that this is about, all of one place where they are possible.
    struct Builds {
        std::size_t count = 0;
        std::size_t of = 0;
        std::string lowest, highest;  ///< versions
        std::string build;            ///< where it is one
        std::string accelerator;      ///< where those for others are left out: "nvidia"
        std::string variant;          ///< the same of BLAS and MPI: "mkl"
        std::string as_before;        ///< where it is because of that: "as installed"
    };
    Builds builds;
    std::string reason;                 ///< Pin; Request: where nobody asks for it
    std::size_t index = 0;              ///< Request, Pin: of the request's specs or constraints
    std::vector<std::string> versions;  ///< what there is of it, the newest first
    /// Offer: the builds of `versions`, where those are the versions that were asked for.
    std::vector<std::string> other_builds;
    /// Offer: the flags that those builds have (CEP 45), where flags were asked for.
    std::optional<std::vector<std::string>> other_flags;
    /// Offer: records that match and cannot be candidates.
    struct LeftOut {
        std::string
            why;  ///< in parentheses after the versions: "newer than --exclude-newer allows"
        std::vector<std::string> versions;
        std::string lacked_build{};  ///< "CUDA build", if they are builds for something else
    };
    std::vector<LeftOut> left_out;
    std::size_t askers = 0;             ///< Offer: how many lines ask for `name`
    std::vector<std::string> channels;  ///< Offer: that were asked, where none has the name
    std::vector<std::string> subdirs;   ///< of those channels

    std::string machine;                 ///< Machine: what people call it
    std::optional<PackageRecord> given;  ///< Machine: its virtual package

    /// Without indentation.
    std::string text() const;
};

/// One way to change a problem.
struct ProblemChange {
    enum class Kind {
        ReplaceSpec,     ///< request.specs[index] becomes `spec`, an AskedSpec
        DropSpec,        ///< request.specs[index] goes
        DropConstraint,  ///< request.constraints[index] goes; `name`: to ask for that would do it
        SetPriority,     ///< to flexible
        AllowNewer,      ///< no record is too new
        SetMachine,      ///< the virtual package `name` has `version` and `build`
        LetChange,       ///< what is installed may change to what `spec`, asked for too, says
        SetAccelerator,  ///< of `name` any build may be taken
    };
    Kind kind = Kind::DropSpec;
    std::size_t index = 0;
    std::string before;  ///< the spec that is replaced or dropped
    std::string spec;
    std::string name, version, build;
    bool is_any_version = false;  ///< SetMachine: another version would do as well

    /// "python=3.10 instead of python=3.14", "a driver for CUDA >= 12.4".
    std::string text() const;

    // clang-tidy 14 takes the 0 of an ordering for a null pointer.
    // NOLINTNEXTLINE(modernize-use-nullptr)
    friend auto operator<=>(const ProblemChange&, const ProblemChange&) = default;
};

/// Changes that together give the request a solution; that was tried.
struct Fix {
    std::vector<ProblemChange> changes;
    /// What one would then get of the packages that the clash is about.
    struct Package {
        std::string name, version, build, channel;
        std::string remark{};  ///< "CPU build", where there is a GPU
    };
    std::vector<Package> gives;
    bool is_smallest = true;  ///< false: the search ended early, a smaller change may exist

    /// "gives python 3.10.14 and numpy 1.19.5", empty where nothing is to be told.
    std::string gives_text() const;
    /// All that it changes, and what it gives.
    std::string text() const;
};

struct Explanation {
    /// All lines together have no solution.
    struct Clash {
        std::vector<ExplanationLine> lines;
        /// Without any one of them there is one. False where a limit was reached before that was
        /// proven.
        bool is_minimal = true;
    };
    /// Usually one; specs that no channel has a package for are one each, the first eight of them.
    std::vector<Clash> clashes;
    /// The names of further requested specs that match no build.
    std::vector<std::string> more;
    /// At most three, the least intrusive first; of those that give up no spec, those with a remark
    /// last.
    std::vector<Fix> fixes;
    /// Whether a limit ended the search for fixes.
    bool has_untried_fixes = false;

    /// Trees of at most ten lines for each clash, or as many as it has of the user's own specs.
    /// Where one has more lines, those that are deep in it are told together; all of them are in
    /// `clashes`.
    std::string tree() const;
    /// The trees and the fixes.
    std::string to_string() const;
};

}  // namespace gpkg
