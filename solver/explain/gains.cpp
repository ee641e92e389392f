#include "solver/explain/gains.hpp"

#include "libcore/hardware/accelerator.hpp"
#include "libcore/hardware/asked_spec.hpp"
#include "libcore/spec/record_version.hpp"
#include "solver/wording.hpp"

#include <algorithm>
#include <fmt/format.h>
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
        const auto freed = freed_by(changes);
        auto names = names_of(changes, concerned);
        names.insert(freed.begin(), freed.end());
        std::vector<Fix::Package> gains;
        for (const auto& record : solution_.records) {
            const bool was_hidden = is_hidden(record);
            const bool is_concerned = names.contains(record.name) || was_hidden;
            const auto id = universe_.find_name(record.name);
            const bool is_asked = id && universe_.is_requested(*id);
            // That another requested package pays for it is told too, and that a dependency no
            // longer is for the GPU of the machine.
            auto remark = is_concerned || is_asked
                              ? remark_on(record, is_asked || freed.contains(record.name))
                              : remark_on_dependency(record);
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

    static std::set<std::string> freed_by(const std::vector<ProblemChange>& changes) {
        std::set<std::string> freed;
        for (const auto& change : changes) {
            if (change.kind == Kind::SetAccelerator) freed.insert(change.name);
        }
        return freed;
    }

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
        return names;
    }

    std::string remark_on(const PackageRecord& record, bool is_told_of) const {
        if (solution_.find_not_running(record.name) != nullptr) return "does not run here";
        const auto of = accelerator_of(record);
        if (!gives_up_gpu(record) && !is_for_another_than_named(record, of) &&
            !(is_told_of && is_for_another_than_asked(record, of)))
            return "";
        return fmt::format("{} build", compute_platform(of.accelerator));
    }

    /// Only where this very version has builds for the GPU: those of another version would not come
    /// anyway.
    std::string remark_on_dependency(const PackageRecord& record) const {
        const auto version = version_of(record);
        if (!version || !gives_up_gpu(record, &*version)) return "";
        return fmt::format("{} build", compute_platform(Accelerator::None));
    }

    /// What the user said has no builds where the change lets others come.
    bool is_for_another_than_asked(const PackageRecord& record, const AcceleratorOf& of) const {
        const auto id = universe_.find_name(record.name);
        const auto wanted = id ? universe_.preferred_accelerator(*id) : std::nullopt;
        return wanted && !of.evidence.empty() && of.accelerator != *wanted &&
               universe_.accelerators().is_bound(record.name);
    }

    /// Whether the request names a build for a GPU: "torch=*=cuda*", and another kind would come.
    bool is_for_another_than_named(const PackageRecord& record, const AcceleratorOf& of) const {
        const auto& specs = universe_.problem().request.specs;
        return !of.evidence.empty() && std::ranges::any_of(specs, [&](const MatchSpec& spec) {
            if (spec.name != record.name || !spec.build) return false;
            const auto named = accelerator_of_build(spec.build->text());
            return named && *named != Accelerator::None && *named != of.accelerator;
        });
    }

    /// Whether a build for none would come where there is a GPU, and are builds for it, which are
    /// preferred as long as nothing is changed, be it that the change asks for just that.
    /// With `version`, only builds of that version count.
    bool gives_up_gpu(const PackageRecord& record, const Version* version = nullptr) const {
        const auto id = universe_.find_name(record.name);
        const auto wanted = id ? universe_.preferred_accelerator(*id) : std::nullopt;
        if (!wanted || !has_vendor(universe_.problem().virtual_packages, *wanted) ||
            accelerator_of(record).accelerator != Accelerator::None)
            return false;
        const auto has_wanted = [&](const Universe& universe) {
            const auto own = universe.find_name(record.name);
            if (!own) return false;
            const auto& name = universe.names()[*own];
            for (auto one = name.begin; one < name.end; ++one) {
                const auto& candidate = universe.candidates()[one];
                if (candidate.accelerator == *wanted && !candidate.is_accelerator_inferred &&
                    (version == nullptr || universe.version(candidate.version) == *version))
                    return true;
            }
            return false;
        };
        return has_wanted(universe_) || has_wanted(changed_);
    }

    /// Whether strict priority kept it away.
    bool is_hidden(const PackageRecord& record) const {
        const auto name = universe_.find_name(record.name);
        if (!name) return false;
        const auto& left_out = universe_.names()[*name].left_out;
        return std::any_of(left_out.begin(), left_out.end(), [&](const LeftOut& out) {
            return out.why == LeftOut::Why::Hidden &&
                   out.record.index->source().channel == record.channel;
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
