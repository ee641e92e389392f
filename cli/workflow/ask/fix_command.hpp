#pragma once

// A fix that the solver found, as a change of the command that asked.

#include "cli/context.hpp"
#include "cli/workflow/ask/question.hpp"
#include "libcore/hardware/accelerator.hpp"
#include "libcore/solve/explanation.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg::cli {

/// Whether the command of the fix leaves --accel out: the only requested package is freed from it.
bool drops_accel_option(const Context& context, const Question& question, const Fix& fix);

/// One fix as a command in the user's own words, and what has to be done by hand before it.
class FixCommand {
public:
    /// Both have to outlive it. `option` is one that the command has in addition.
    FixCommand(const Context& context,
               const Question& question,
               const Fix& fix,
               const std::string& option = {});

    /// The whole line that a shell takes.
    std::string text() const;
    /// What has to be done before: "change lib>=2 to lib=1.0" in a file. Of a dry run commands too,
    /// for they would change something.
    std::vector<std::string> before() const;
    /// The same in one line, with the first of many lines to delete and the file to edit; empty:
    /// nothing.
    std::string before_text() const;
    /// What the line asks no more: specs that were in it, a pin.
    const std::vector<std::string>& dropped() const { return dropped_; }
    /// The variables that make the machine of the fix. They stand in front of the line, unless it
    /// gives the same facts in --for.
    const std::map<std::string, std::string>& environment() const { return environment_; }
    /// "the recipe", or the file with the request, as typed: the value of the only -f. Empty: none,
    /// or several.
    std::string edited_file() const;
    /// Whether it changes the machine by facts in --for: "--for h100,glibc=2.34".
    bool gives_facts() const { return gives_facts_; }
    /// "a driver for CUDA >= 12.4".
    const std::vector<std::string>& machines() const { return machines_; }
    /// Whether the requested spec is an argument of the command, not a line of a file.
    bool is_argument(std::size_t index) const { return word_of(index).has_value(); }

private:
    std::vector<std::string> steps() const;
    std::optional<std::size_t> word_of(std::size_t index) const;
    bool is_of_earlier(std::size_t index) const;
    std::string as_in_file(std::string spec) const;
    bool are_specs_words() const;
    bool is_recipe() const;
    void ask_for(const std::string& spec);
    void apply(const ProblemChange& change);
    void replace(const ProblemChange& change);
    void drop(const ProblemChange& change);
    void drop_constraint(const ProblemChange& change);
    void let_change(const std::string& spec);
    void set_accelerator(const std::string& name, AcceleratorChoice choice);
    void remove_option(const std::string& name);
    void set_machine(const ProblemChange& change);
    bool give_facts(const Fix& fix);
    std::map<std::string, std::string> system_facts(const Fix& fix,
                                                    const std::string& machine) const;

    const Context& context_;
    const Question& question_;
    std::vector<std::string> words_;
    std::vector<std::string> options_;  ///< that it has in addition, before a "--"
    std::map<std::string, std::string> environment_;
    bool gives_facts_ = false;
    std::vector<std::string> removed_;   ///< packages that were asked for earlier
    std::vector<std::string> unpinned_;  ///< packages with a pin in conda-meta/pinned
    std::vector<std::string> dropped_;
    std::vector<std::string> edits_;
    std::vector<std::string> deleted_;    ///< specs to delete from a file
    std::vector<std::string> pin_edits_;  ///< of files with pins
    std::vector<std::string> machines_;
};

}  // namespace gpkg::cli
