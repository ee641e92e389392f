#include "solver/explain/gains.hpp"

#include "libcore/hardware/accelerator.hpp"
#include "libcore/hardware/asked_spec.hpp"
#include "solver/wording.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>
#include <span>
#include <utility>

namespace gpkg::solver {
namespace {

class Gaining {
public:
    Gaining(const Universe& universe, const Universe& changed, const Solution& solution)
        : universe_(universe), changed_(changed), solution_(solution) {}

    std::vector<Fix::Package> run(const std::vector<ProblemChange>& changes,
                                  const Concerned& concerned) const {
        const auto& problem = universe_.problem();
        const auto names = names_of(changes, concerned);
        std::vector<Fix::Package> gains;
        for (const auto& record : solution_.records) {
            const bool was_hidden = is_hidden(record);
            const bool is_concerned = names.contains(record.name) || was_hidden;
            // That another package pays for it is told too.
            auto remark = remark_on(record, is_concerned);
            if (!is_concerned && remark.empty()) continue;
            gains.push_back({record.name,
                             record.version,
                             record.build,
                             was_hidden ? channel_title(problem, record.channel) : "",
                             std::move(remark)});
        }
        std::ranges::sort(gains, {}, &Fix::Package::name);
        return gains;
    }

private:
    using Kind = ProblemChange::Kind;

    /// What the conflict and the changes are about, as it is called after them.
    std::set<std::string> names_of(const std::vector<ProblemChange>& changes,
                                   const Concerned& concerned) const {
        const auto& specs = universe_.problem().request.specs;
        std::map<std::size_t, std::string> by_spec;
        for (const auto index : concerned.specs) by_spec[index] = specs[index].name;
        for (const auto& change : changes) {
            if (change.kind == Kind::DropSpec) by_spec.erase(change.index);
            if (change.kind != Kind::ReplaceSpec) continue;
            const auto asked = AskedSpec::parse(change.spec);
            by_spec[change.index] = asked ? asked->spec.name : specs[change.index].name;
        }
        auto names = concerned.pinned;
        for (auto& [index, name] : by_spec) names.insert(std::move(name));
        for (const auto& change : changes) {
            if (change.kind == Kind::SetAccelerator) names.insert(change.name);
        }
        return names;
    }

    /// Where it is for another accelerator than the user said, or than is preferred as long as
    /// nothing is changed and has builds, be it that the change asks for just that.
    std::string remark_on(const PackageRecord& record, bool is_told) const {
        if (solution_.find_not_running(record.name) != nullptr) return "does not run here";
        const auto id = universe_.find_name(record.name);
        if (!id) return "";
        const auto of = accelerator_of(record);
        const auto named = vendor_named(record.name);
        const auto wanted = named ? named : universe_.preferred_accelerator(*id);
        const bool is_said = named || (is_told && universe_.accelerators().is_bound(record.name));
        const bool is_missed = wanted && of.accelerator != *wanted &&
                               (is_said ? !of.evidence.empty() : has_builds(record.name, *wanted));
        return is_missed ? fmt::format("{} build", compute_platform(of.accelerator)) : "";
    }

    /// The one whose build the request names: "torch=*=cuda*".
    std::optional<Accelerator> vendor_named(const std::string& name) const {
        for (const auto& spec : universe_.problem().request.specs) {
            if (spec.name != name || !spec.build) continue;
            const auto named = accelerator_of_build(spec.build->text());
            if (named && *named != Accelerator::None) return named;
        }
        return std::nullopt;
    }

    /// For a GPU of the machine.
    bool has_builds(const std::string& text, Accelerator wanted) const {
        if (!has_vendor(universe_.problem().virtual_packages, wanted)) return false;
        return std::ranges::any_of(
            std::array{&universe_, &changed_}, [&](const Universe* universe) {
                const auto id = universe->find_name(text);
                if (!id) return false;
                return std::ranges::any_of(
                    universe->candidates_of(*id), [&](const Candidate& build) {
                        return build.accelerator == wanted && !build.is_accelerator_inferred;
                    });
            });
    }

    /// Whether strict priority kept it away.
    bool is_hidden(const PackageRecord& record) const {
        const auto name = universe_.find_name(record.name);
        if (!name) return false;
        const auto& left_out = universe_.names()[*name].left_out;
        return std::any_of(left_out.begin(), left_out.end(), [&](const LeftOut& out) {
            return out.why == LeftOut::Why::Hidden && out.record.channel() == record.channel;
        });
    }

    const Universe& universe_;
    const Universe& changed_;
    const Solution& solution_;
};

}  // namespace

std::vector<Fix::Package> gains_of(const Universe& universe,
                                   const Universe& changed,
                                   const Solution& solution,
                                   const std::vector<ProblemChange>& changes,
                                   const Concerned& concerned) {
    return Gaining(universe, changed, solution).run(changes, concerned);
}

}  // namespace gpkg::solver
