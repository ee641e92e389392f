#include "cli/workflow/doctor/accelerator_checkup.hpp"

#include "libcore/base/text.hpp"
#include "libcore/env/order.hpp"
#include "libcore/hardware/cuda.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace gpkg::cli {
namespace {

using Grade = Finding::Grade;
using Places = std::vector<std::size_t>;

class AcceleratorCheckup {
public:
    explicit AcceleratorCheckup(const Checked& checked)
        : checked_(checked), graph_(graph_of(checked.records)) {
        const auto count = graph_.records().size();
        is_wish_.resize(count);
        for (const auto& wish : checked.wishes) {
            if (const auto place = graph_.find(wish.name)) is_wish_[*place] = true;
        }
        declared_.reserve(count);
        for (const auto& record : graph_.records()) declared_.push_back(accelerator_of(record));
    }

    std::vector<Finding> run() && {
        for (const auto& vendor : vendors()) {
            const auto accelerator = vendor.accelerator;
            if (has_device(checked_.machine(), accelerator)) {
                vendors_.push_back(accelerator);
            } else {
                for (const auto& group : groups(of_vendor(accelerator)))
                    add(known_of(group), for_no_gpu_of(checked_.machine_name(), accelerator), {});
            }
        }
        if (vendors_.empty()) return std::move(found_);
        for (const auto& group : groups(for_cpus())) beside_gpu(group);
        return std::move(found_);
    }

private:
    const std::string& name(std::size_t place) const { return graph_.records()[place].name; }

    /// What chooses another's build is told as an old name.
    bool is_choice_of_build(std::size_t place) const {
        return build_chosen_by(checked_.records, name(place)).has_value();
    }

    /// A vendor's library alone may be there for what can do without: only what was asked for is
    /// worth a word then, and of that not what only tells a CUDA version, as pytorch-cuda does.
    std::vector<bool> of_vendor(Accelerator accelerator) const {
        std::vector<bool> members(declared_.size());
        for (std::size_t i = 0; i < members.size(); ++i)
            members[i] = declared_[i].accelerator == accelerator && !is_choice_of_build(i) &&
                         (!declared_[i].is_by_library || is_wish_[i]) &&
                         !tells_cuda_version(name(i));
        return members;
    }

    /// Builds for CPUs that nobody asked for.
    std::vector<bool> for_cpus() const {
        const auto asked = asked_for_cpus();
        std::vector<bool> members(declared_.size());
        for (std::size_t i = 0; i < members.size(); ++i)
            members[i] = declared_[i].accelerator == Accelerator::None &&
                         !declared_[i].evidence.empty() && !asked[i] && !is_choice_of_build(i);
        return members;
    }

    /// What was asked for so, the parts that it is made of, and what is for CPUs because those are.
    std::vector<bool> asked_for_cpus() const {
        std::vector<bool> asked(declared_.size());
        for (std::size_t i = 0; i < asked.size(); ++i) {
            const auto choice = checked_.accelerators.choice(name(i));
            const bool is_chosen =
                choice == AcceleratorChoice::None || choice == AcceleratorChoice::Conda;
            if (is_chosen && !declared_[i].evidence.empty()) asked[i] = true;
            const auto says = accelerator_of_dependency(name(i), "");
            if (is_wish_[i] && says.hint != AcceleratorHint::Nothing &&
                says.accelerator == Accelerator::None)
                asked[i] = true;
            const auto built = build_chosen_by(checked_.records, name(i));
            if (is_wish_[i] && built && built->accelerator == Accelerator::None) asked[i] = true;
        }
        auto parts = graph_.all_needed_by(std::move(asked));
        for (std::size_t i = 0; i < parts.size(); ++i)
            parts[i] = parts[i] && !declared_[i].evidence.empty();
        return graph_.all_needing(std::move(parts));
    }

    /// Those members that need each other, directly or by way of other members.
    std::vector<Places> groups(std::vector<bool> members) const {
        std::vector<Places> groups;
        for (std::size_t start = 0; start < members.size(); ++start) {
            if (!members[start]) continue;
            members[start] = false;
            Places group{start};
            const auto take = [&](std::size_t place) {
                if (!members[place]) return;
                members[place] = false;
                group.push_back(place);
            };
            for (std::size_t i = 0; i < group.size(); ++i) {
                for (const auto& need : graph_.needs(group[i])) take(need.to);
                for (const auto& need : graph_.needed_by(group[i])) take(need.from);
            }
            std::sort(group.begin(), group.end());
            groups.push_back(std::move(group));
        }
        return groups;
    }

    /// What was asked for; else what others need that are no parts of the group, and what nobody
    /// needs. What most of these need themselves is first: pytorch before torchvision.
    Places known_of(const Places& group) const {
        const auto is_part = [&](const Need& need) {
            return std::binary_search(group.begin(), group.end(), need.from);
        };
        Places known;
        std::copy_if(group.begin(), group.end(), std::back_inserter(known), [&](auto place) {
            return is_wish_[place];
        });
        if (known.empty())
            std::copy_if(group.begin(), group.end(), std::back_inserter(known), [&](auto place) {
                const auto users = graph_.needed_by(place);
                return users.empty() || !std::all_of(users.begin(), users.end(), is_part);
            });
        if (known.empty()) known = group;  // a cycle
        const auto users_among_them = [&](std::size_t place) {
            const auto users = graph_.needed_by(place);
            return std::count_if(users.begin(), users.end(), [&](const Need& need) {
                return std::find(known.begin(), known.end(), need.from) != known.end();
            });
        };
        std::vector<std::pair<std::ptrdiff_t, std::size_t>> order;
        order.reserve(known.size());
        for (const auto place : known) order.emplace_back(-users_among_them(place), place);
        std::sort(order.begin(), order.end());
        for (std::size_t i = 0; i < order.size(); ++i) known[i] = order[i].second;
        return known;
    }

    void beside_gpu(const Places& group) {
        const auto known = known_of(group);
        add(known,
            fmt::format("is a CPU build, but {} has a GPU ({})",
                        checked_.machine_name(),
                        declared_[known.front()].evidence),
            builds_instead(known));
    }

    /// The commands that bring them; where none is known to, what shows which builds there are.
    std::string builds_instead(const Places& known) const {
        std::vector<std::string> commands;
        for (const auto vendor : vendors_) {
            std::vector<std::string> specs;
            for (const auto place : known)
                specs.push_back(fmt::format("{}[accel={}]", name(place), to_string(vendor)));
            if (auto remedy = checked_.remedies.install(specs))
                commands.push_back(std::move(remedy->command));
        }
        if (!commands.empty()) return join_or(commands);
        const auto& first = name(known.front());
        const auto builds = checked_.remedies.other_builds(first, [&](const PackageRecord& record) {
            return std::ranges::find(vendors_, accelerator_of(record).accelerator) !=
                   vendors_.end();
        });
        return builds.empty() ? fmt::format("no GPU build of {} in these channels runs on {}",
                                            first,
                                            checked_.machine_name())
                              : builds;
    }

    void add(const Places& known, std::string message, std::string hint) {
        std::vector<std::string> names;
        for (const auto place : known) names.push_back(name(place));
        found_.push_back({Grade::Warning,
                          names.front(),
                          with_others(std::move(message), names),
                          std::move(hint)});
    }

    const Checked& checked_;
    RecordGraph graph_;
    std::vector<bool> is_wish_;            ///< by place
    std::vector<AcceleratorOf> declared_;  ///< by place
    std::vector<Accelerator> vendors_;     ///< whose GPUs are here
    std::vector<Finding> found_;
};

}  // namespace

std::vector<Finding> check_accelerators(const Checked& checked) {
    return AcceleratorCheckup(checked).run();
}

}  // namespace gpkg::cli
