#include "solver/notes/unheeded_accelerators.hpp"

#include "libcore/base/text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>

namespace gpkg::solver {
namespace {

class UnheededAccelerators {
public:
    UnheededAccelerators(const Universe& universe, const std::vector<CandidateId>& chosen)
        : universe_(universe) {
        for (const auto id : chosen) chosen_[universe.candidates()[id].name] = id;
    }

    std::optional<std::string> note_on(const std::string& name) const {
        const auto& accelerators = universe_.accelerators();
        const auto choice = accelerators.choice(name);
        const auto id = universe_.find_name(name);
        if (choice == AcceleratorChoice::Auto || choice == AcceleratorChoice::Conda || !id)
            return std::nullopt;
        const auto chosen = chosen_.find(*id);
        if (chosen == chosen_.end()) return std::nullopt;
        const bool is_cpu_build = choice == AcceleratorChoice::None &&
                                  universe_.candidates()[chosen->second].says_accelerator;
        if (is_cpu_build || has_builds(*id)) return std::nullopt;
        auto text = fmt::format(
            "{0}[accel={1}] has no effect: {0} has no GPU builds", name, to_string(choice));
        const auto others = needed_with_builds(chosen->second);
        if (!others.empty())
            text += fmt::format("; dependencies with GPU builds: {}", join_some(others, "and"));
        return text;
    }

private:
    bool has_builds(NameId id) const {
        const auto& name = universe_.names()[id];
        for (auto other = name.begin; other < name.end; ++other) {
            if (universe_.candidates()[other].accelerator != Accelerator::None) return true;
        }
        return std::any_of(name.left_out.begin(), name.left_out.end(), [](const LeftOut& out) {
            return out.why == LeftOut::Why::Accelerator ||
                   out.why == LeftOut::Why::OtherAccelerator;
        });
    }

    std::vector<std::string> needed_with_builds(CandidateId from) const {
        std::vector<std::string> names;
        std::set<CandidateId> seen{from};
        std::vector<CandidateId> queue{from};
        for (std::size_t i = 0; i < queue.size(); ++i) {
            for (const auto depend : universe_.candidates()[queue[i]].depends) {
                const auto& spec = universe_.specs()[depend];
                const auto needed = chosen_.find(spec.name);
                if (needed == chosen_.end() || !seen.insert(needed->second).second) continue;
                queue.push_back(needed->second);
                if (has_builds(spec.name)) names.push_back(universe_.name_of(spec).text);
            }
        }
        return names;
    }

    const Universe& universe_;
    std::map<NameId, CandidateId> chosen_;
};

}  // namespace

std::vector<std::string> notes_on_unheeded_accelerators(const Universe& universe,
                                                        const std::vector<CandidateId>& chosen) {
    std::vector<std::string> notes;
    const UnheededAccelerators unheeded(universe, chosen);
    for (const auto& name : universe.problem().request.accelerators.asked_packages) {
        if (auto note = unheeded.note_on(name)) notes.push_back(*std::move(note));
    }
    return notes;
}

}  // namespace gpkg::solver
