#pragma once

// What a user should know of a solution, as data that text() puts into words.

#include <string>
#include <utility>
#include <vector>

namespace gpkg {

/// Most notes are about one package of the solution: which better version or build of it is not
/// selected, why, and the spec that selects it.
struct Note {
    std::string name{};  ///< of the package; empty: `reason` is the whole text
    std::string version{};

    /// The better one; both are empty where `reason` is about the selected one.
    std::string better{};    ///< its version, where that is another
    std::string platform{};  ///< what its build is for, where that is another: "CUDA"
    std::string aside{};     ///< about it, for parentheses: "988 days newer"
    std::string reason{};    ///< "needs __cuda >=13, but this machine has ..."

    /// A spec that was tried; empty: none is known.
    std::string spec{};
    std::string
        selects{};  ///< what it selects, where that is not the better one: "1, a CUDA build"
    std::vector<std::string> changes{};  ///< what else changes then: "jax would be 0.7.0"

    bool is_warning = false;  ///< something will not work

    Note() = default;
    // A text is a note.
    // NOLINTNEXTLINE(google-explicit-constructor,hicpp-explicit-conversions)
    Note(std::string text) : reason(std::move(text)) {}

    /// "torch 2.9 is selected instead of 2.8, a CUDA build; torch[accel=nvidia] selects it"
    std::string text() const;

    friend bool operator==(const Note&, const Note&) = default;
};

std::vector<std::string> texts_of(const std::vector<Note>& notes);

/// Puts texts behind notes.
void append(std::vector<Note>& to, std::vector<std::string> texts);

}  // namespace gpkg
