#include "libcore/solve/note.hpp"

#include "libcore/base/text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace gpkg {
namespace {

/// "3", "its CUDA build", "3, a CUDA build"
std::string better_text(const Note& note) {
    if (note.platform.empty()) return note.better;
    return note.better.empty() ? fmt::format("its {} build", note.platform)
                               : fmt::format("{}, a {} build", note.better, note.platform);
}

std::string subject_text(const Note& note) {
    if (note.name.empty()) return note.reason;
    const auto package = note.name + " " + note.version;
    const auto better = better_text(note);
    if (better.empty()) return package + " " + note.reason;
    auto text = fmt::format("{} is selected instead of {}", package, better);
    if (!note.aside.empty()) text += fmt::format(" ({})", note.aside);
    if (!note.reason.empty()) text += ", which " + note.reason;
    return text;
}

}  // namespace

std::string Note::text() const {
    auto text = subject_text(*this);
    if (!spec.empty())
        text += fmt::format("; {} selects {}", spec, selects.empty() ? "it" : selects);
    if (!changes.empty()) text += "; " + join_some(changes, "and");
    return text;
}

std::vector<std::string> texts_of(const std::vector<Note>& notes) {
    std::vector<std::string> texts;
    texts.reserve(notes.size());
    std::ranges::transform(notes, std::back_inserter(texts), &Note::text);
    return texts;
}

void append(std::vector<Note>& to, std::vector<std::string> texts) {
    for (auto& text : texts) to.emplace_back(std::move(text));
}

}  // namespace gpkg
