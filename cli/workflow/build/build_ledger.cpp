#include "cli/workflow/build/build_ledger.hpp"

#include "libcore/base/json_text.hpp"
#include "libcore/build/checks/check_needs.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gpkg::cli {

void BuildLedger::begin(BuildPlan plan) {
    plan_ = std::move(plan);
    failures_ = std::move(plan_.failures);
    entries_.resize(plan_.builds.size());
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        if (plan_.builds[i].error) fail(i, *plan_.builds[i].error);
    }
}

std::size_t BuildLedger::decided() const {
    return static_cast<std::size_t>(
        std::count_if(entries_.begin(), entries_.end(), [](const auto& entry) {
            return entry.fate != Fate::Waiting;
        }));
}

void BuildLedger::keep(std::size_t build) {
    entries_[build] = {Fate::Good, plan_.builds[build].package};
}

Result<void> BuildLedger::finish(std::size_t build,
                                 const std::string& node,
                                 const std::string& job,
                                 const std::vector<std::string>& warnings) {
    auto package = package_now(plan_.builds[build], options_);
    package.reused = false;
    package.node = node;
    package.job = job;
    package.warnings = warnings;
    if (!package.is_published) GPKG_CHECK(stage_package(package.file, options_.staging));
    entries_[build] = {Fate::Good, std::move(package)};
    plan_.builds[build].reason.clear();
    if (context_.out.verbose())
        context_.out.note(fmt::format("built {} on {}", plan_.builds[build].distribution, node));
    return {};
}

void BuildLedger::fail(std::size_t build, Error error) {
    entries_[build].fate = Fate::Bad;
    const auto& planned = plan_.builds[build];
    if (context_.out.verbose()) context_.out.note("failed: " + planned.distribution);
    if (error.details.empty()) {
        const nlohmann::ordered_json details{{"package", planned.distribution},
                                             {"variant", planned.variant}};
        error.details = json_text(details);
    }
    failures_.push_back({planned.recipe, planned.distribution, std::move(error)});
}

void BuildLedger::fail_tests(std::size_t build, Error error) {
    auto& entry = entries_[build];
    entry.fate = Fate::Untested;
    // The task that tested it has built it too, and put it where nothing takes it from.
    if (entry.package.file.empty()) {
        entry.package = package_now(plan_.builds[build], options_);
        const auto& file = entry.package.file;
        entry.package.file =
            options_.work / "failed" / file.parent_path().filename() / file.filename();
        entry.package.is_published = false;
        entry.package.reused = false;
    }
    failed_tests_.push_back({plan_.builds[build].distribution, std::move(error)});
}

std::optional<std::size_t> BuildLedger::failed_need_of(std::size_t build) const {
    for (const auto* makers : {&plan_.builds[build].after, &plan_.builds[build].after_others}) {
        for (const auto maker : *makers) {
            if (entries_[maker].fate == Fate::Bad) return maker;
        }
    }
    return std::nullopt;
}

bool BuildLedger::wants_tests(std::size_t build) const {
    const auto& [fate, package] = entries_[build];
    return fate == Fate::Good && !package.tested && !package.tests.empty();
}

void BuildLedger::add_made_to(TaskOrder& order) const {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        const auto& [fate, package] = entries_[i];
        const bool is_made = fate == Fate::Good || fate == Fate::Untested;
        if (!is_made || package.is_published) continue;
        order.staged.push_back(package.file);
        if (fate == Fate::Untested) order.failed.insert(plan_.builds[i].distribution);
    }
}

void BuildLedger::end(BuildOutcome& outcome) {
    check_needs_of_all();
    for (auto& entry : entries_) {
        if (entry.fate != Fate::Bad) outcome.built.packages.push_back(std::move(entry.package));
    }
    outcome.built.failures = std::move(failures_);
    outcome.built.skipped = plan_.skipped;
    outcome.failed_tests = std::move(failed_tests_);
}

void BuildLedger::check_needs_of_all() {
    std::vector<std::size_t> places;
    std::vector<BuiltPackage*> packages;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        if (entries_[i].fate != Fate::Good) continue;
        places.push_back(i);
        packages.push_back(&entries_[i].package);
    }
    for (auto& [place, error] : check_needs(packages, options_))
        fail(places[place], std::move(error));
}

}  // namespace gpkg::cli
