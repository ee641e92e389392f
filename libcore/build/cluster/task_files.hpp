#pragma once

// What a task of a cluster is told and what it answers, as files on a file system that all machines
// see: Slurm may forget a job, the files stay.

#include "libcore/build/built_package.hpp"
#include "libcore/fs/file.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace gpkg {

struct TaskOrder {
    std::vector<fs::path> recipes;
    /// By full name, what each is to be made of: where the machine that builds finds something
    /// else, it builds nothing.
    std::map<std::string, BuildInputs> builds;
    /// Packages of the run that are not published, to build and test with.
    std::vector<fs::path> staged;
    /// Distributions among them that failed their tests: what would be built with one is not built.
    std::set<std::string> failed;
    bool builds_packages = true;  ///< else they are built, lie in `staged`, and are only tested
    bool tests_packages = true;
    fs::path work;  ///< of the run

    /// Whether it makes the same of the same; what else there is may differ.
    bool is_as(const TaskOrder& other) const;
};

struct TaskFailure {
    std::string distribution;  ///< empty: nothing could be begun
    Error error;
};

struct TaskAnswer {
    std::string node;
    std::map<std::string, std::vector<std::string>> warnings;  ///< by distribution, of good ones
    std::vector<TaskFailure> failures;
    std::vector<TaskFailure> failed_tests;

    bool is_success() const { return failures.empty() && failed_tests.empty(); }
};

Result<void> write_order(const fs::path& folder, const TaskOrder& order);
Result<TaskOrder> read_order(const fs::path& folder);

Result<void> write_answer(const fs::path& folder, const TaskAnswer& answer);
Result<void> remove_answer(const fs::path& folder);
/// No value as long as there is none.
Result<std::optional<TaskAnswer>> read_answer(const fs::path& folder);

/// How what is to be built here differs from the order: "the recipe, the sources"; empty where it
/// does not.
std::string difference(const BuildInputs& ordered, const BuildInputs& here);

}  // namespace gpkg
