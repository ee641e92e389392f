#include "cli/commands/lock.hpp"
#include "cli/table.hpp"
#include "cli/workflow/lock_choice.hpp"
#include "cli/workflow/lock_repair.hpp"
#include "cli/workflow/lock_request.hpp"
#include "cli/workflow/machine.hpp"
#include "libcore/base/text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gpkg::cli::locks {
namespace {

using Json = nlohmann::ordered_json;

bool is_asked(const WishOptions& wishes) {
    return !wishes.specs.empty() || !wishes.files.empty() || wishes.accelerator.has_value();
}

/// How the lock and what is asked for now have moved apart.
Result<std::vector<std::string>> drift(Context& context,
                                       const LockFile& lock,
                                       const Options& options) {
    auto lines = edits_of(lock);
    if (!is_asked(options.wishes)) return lines;
    for (const auto& locked : lock.classes) {
        if (locked.environment != kDefaultEnvironment) continue;
        auto sources = options.sources;
        sources.for_machine.clear();
        sources.platform = locked.platform;
        GPKG_TRY(const auto now, wanted(context, options.wishes, sources));
        GPKG_TRY(const auto request, lock_request_of(context, sources, now));
        for (auto& line : drift_of(lock, locked, request)) {
            if (std::find(lines.begin(), lines.end(), line) == lines.end())
                lines.push_back(std::move(line));
        }
    }
    return lines;
}

struct Answer {
    std::string machine;
    std::vector<ClassFit> fits;  ///< the best first
    std::vector<std::string> drift;
    std::vector<GonePackage> gone;

    bool fits_here() const { return !fits.empty() && fits.front().fits(); }
    bool is_yes() const { return fits_here() && drift.empty() && gone.empty(); }
};

Json json_of(const Answer& answer, const LockFile& lock, bool available) {
    Json document{{"success", answer.is_yes()},
                  {"machine", answer.machine},
                  {"class", answer.fits_here() ? Json(answer.fits.front().locked->name) : Json()},
                  {"classes", Json::array()},
                  {"drift", answer.drift}};
    for (const auto& fit : answer.fits)
        document["classes"].push_back(
            {{"name", fit.locked->name}, {"fits", fit.fits()}, {"unmet", fit.unmet}});
    if (!available) return document;
    document["gone"] = Json::array();
    for (const auto& [place, why] : answer.gone)
        document["gone"].push_back({{"url", lock.packages[place].record.url}, {"why", why}});
    return document;
}

void tell(Output& out, const Answer& answer, const LockFile& lock, const Options& options) {
    Table table;
    for (const auto& fit : answer.fits)
        table.add({fit.locked->name,
                   &fit == &answer.fits.front() && fit.fits() ? "is taken: " + fit.advantage()
                   : fit.fits()                               ? "fits"
                                                              : join_some(fit.unmet, "and")});
    for (const auto& line : table.lines()) out.result(line);
    if (!answer.fits_here()) out.note(fmt::format("{} fits none of its classes", answer.machine));
    for (const auto& line : answer.drift) out.result("drift: " + line);
    if (!answer.drift.empty()) out.note("gpkg lock decides anew");
    for (const auto& [place, why] : answer.gone)
        out.result(fmt::format("gone: {}: {}", lock.packages[place].record.url, why));
    if (!answer.gone.empty())
        out.note(fmt::format("gpkg lock repair {} puts other builds of the same versions there",
                             options.file));
}

}  // namespace

/// Which class the machine takes and what keeps it from the others, whether what is asked for is
/// still what was locked, and whether it can still be had.
Result<int> check(Context& context, const Options& options) {
    GPKG_TRY(const auto found, read(context, options.file));
    const auto& lock = found.lock;
    auto sources = options.sources;
    if (options.machines.size() > 1)
        return fail(ErrorKind::Usage, "one machine at a time: name one --for");
    if (!options.machines.empty()) sources.for_machine = options.machines.front();
    GPKG_TRY(const auto machine, machine_of(context, sources));
    GPKG_TRY(const auto records, virtual_packages_of(context, machine));
    Answer answer;
    answer.machine = machine.name;
    answer.fits = fits_of(lock, machine.platform, records);
    GPKG_TRY(answer.drift, drift(context, lock, options));
    if (options.available) {
        GPKG_TRY(answer.gone, gone_packages(context, lock, options.sources));
    }
    if (context.out.json_mode()) {
        context.out.json(json_of(answer, lock, options.available));
    } else {
        tell(context.out, answer, lock, options);
    }
    return answer.is_yes() ? 0 : 1;
}

}  // namespace gpkg::cli::locks
