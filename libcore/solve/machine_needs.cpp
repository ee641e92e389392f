#include "libcore/solve/machine_needs.hpp"

#include "libcore/hardware/cuda.hpp"
#include "libcore/hardware/gpu_targets.hpp"
#include "libcore/spec/record_version.hpp"

#include <algorithm>
#include <utility>

namespace gpkg {
namespace {

/// "13.0" for 13: kernels, C libraries and drivers have two numbers.
std::string with_minor(const Version& version) {
    const auto& text = version.to_string();
    return text.find('.') == std::string::npos ? text + ".0" : text;
}

/// A version just above another one: 12.4.0.1 for ">12.4".
std::optional<Version> just_above(const Version& version) {
    auto above = Version::parse(version.to_string() + ".0.1");
    return above ? std::optional(*std::move(above)) : std::nullopt;
}

}  // namespace

bool may_restrict(const PackageRecord& record, std::string_view name, DriverBounds bounds) {
    return !(bounds == DriverBounds::Ignore && name.starts_with("__") &&
             tells_cuda_version(record.name));
}

std::vector<UnmetNeed> unmet_needs(const PackageRecord& record,
                                   const std::vector<PackageRecord>& machine,
                                   DriverBounds bounds) {
    std::vector<UnmetNeed> unmet;
    const auto take = [&](const std::vector<std::string>& texts, bool is_restriction) {
        for (const auto& text : texts) {
            if (!text.starts_with("__")) continue;
            auto spec = MatchSpec::parse(text);
            if (!spec || spec->when) continue;
            if (is_restriction && !may_restrict(record, spec->name, bounds)) continue;
            const auto* found = find_record(machine, spec->name);
            if (found == nullptr) {
                if (!is_restriction) unmet.push_back({*std::move(spec), nullptr});
            } else if (!spec->matches(*found)) {
                unmet.push_back({*std::move(spec), found});
            }
        }
    };
    take(record.depends, false);
    take(record.constrains, true);
    return unmet;
}

ValuesTaken values_taken(const UnmetNeed& need) {
    ValuesTaken values;
    const auto& spec = need.spec;
    if (spec.name == "__archspec") {
        if (spec.build && spec.build->is_exact()) values.example = spec.build->text();
        return values;
    }
    std::optional<Version> own;
    if (need.there != nullptr) {
        if (auto version = version_of(*need.there)) own = *std::move(version);
        if (!own || !spec.version) return values;
    }
    const auto consider = [&](const Version& version, bool is_named) {
        if (spec.version && !spec.version->matches(version)) return;
        if (own && version < *own) {
            values.older = true;
            return;
        }
        values.newer = true;
        if (is_named && (!values.named_newer || version < *values.named_newer))
            values.named_newer = version;
    };
    consider(*Version::parse("0"), false);
    if (spec.version) {
        for (const auto& version : spec.version->literals()) {
            consider(version, true);
            if (const auto above = just_above(version)) consider(*above, false);
        }
    }
    if (values.named_newer) values.example = with_minor(*values.named_newer);
    return values;
}

bool may_have_driver_for(const Version& cuda, const std::vector<PackageRecord>& machine) {
    const auto devices = cuda_devices(machine);
    return std::none_of(devices.begin(), devices.end(), [&](const Version& device) {
        const auto last = last_driver_for(CudaTarget::of(device));
        return last && *last < cuda;
    });
}

bool newer_driver_helps(const UnmetNeed& need, const std::vector<PackageRecord>& machine) {
    if (need.spec.name != "__cuda" || need.there == nullptr) return false;
    const auto values = values_taken(need);
    return values.newer &&
           (!values.named_newer || may_have_driver_for(*values.named_newer, machine));
}

bool lacks_only_assumed(const PackageRecord& record, const std::vector<PackageRecord>& machine) {
    const auto unmet = unmet_needs(record, machine);
    return !unmet.empty() && std::all_of(unmet.begin(), unmet.end(), [](const UnmetNeed& need) {
        return need.there != nullptr && is_assumed(*need.there);
    });
}

}  // namespace gpkg
