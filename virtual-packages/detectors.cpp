#include "virtual-packages/detectors.hpp"

#include "libcore/base/parallel.hpp"
#include "libcore/base/text.hpp"
#include "virtual-packages/answer_cache_internal.hpp"
#include "virtual-packages/child_internal.hpp"
#include "virtual-packages/detector_program_internal.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace gpkg::virtual_packages {
namespace {

constexpr std::string_view kExtension = ".yaml";

/// A file of an earlier folder hides those of its name in later ones.
std::vector<fs::path> files_of(const Host& host) {
    std::vector<fs::path> files;
    std::set<std::string> seen;
    for (const auto& folder : host.detectors.folders) {
        for (const auto& name : sorted_names(folder, "")) {
            if (name.starts_with('.') || !name.ends_with(kExtension)) continue;
            if (seen.insert(name).second) files.push_back(folder / name);
        }
    }
    return files;
}

std::string_view key_of(Look::Kind kind) {
    switch (kind) {
    case Look::Kind::File: return "file";
    case Look::Kind::Link: return "link";
    case Look::Kind::Path: return "path";
    case Look::Kind::Library: return "library";
    }
    return "";
}

std::string text_of(const Look& look) {
    auto text = fmt::format("{} {}", key_of(look.kind), look.where);
    if (!look.matches.empty()) text += fmt::format(" that matches {}", look.matches);
    return text;
}

std::string source_of(const Detector& detector, const Asked& asked) {
    auto source = detector.file.native();
    if (asked.from_cache) source += ", cached";
    for (const auto& what : asked.unconfined)
        source +=
            fmt::format(", {} could not be denied to it", what == "network" ? "the network" : what);
    return source;
}

/// The first wins that finds a package. Programs run at the same time, so that several that hang
/// take no longer than one.
class Asking {
public:
    Asking(const Host& host, const std::vector<std::string>& decided)
        : host_(host), decided_(decided) {}

    Detected all() && {
        std::vector<Detector> detectors;
        for (const auto& file : files_of(host_)) {
            if (auto detector = read_detector(file))
                detectors.push_back(*std::move(detector));
            else
                warn_of(std::move(detector).error());
        }
        std::vector<const Look*> missing;
        std::vector<std::size_t> running;
        for (std::size_t i = 0; i < detectors.size(); ++i) {
            missing.push_back(missing_for(detectors[i]));
            if (missing.back() == nullptr && runs_program(detectors[i])) running.push_back(i);
        }
        std::vector<std::optional<Asked>> answers(detectors.size());
        for_each_index(running.size(), running.size(), [&](std::size_t i) {
            answers[running[i]] = ask_program(host_, detectors[running[i]]);
        });
        for (std::size_t i = 0; i < detectors.size(); ++i) {
            const auto& detector = detectors[i];
            if (missing[i] != nullptr)
                note(detector, "not for this machine: no " + text_of(*missing[i]));
            else if (detector.run.empty())
                see(detector);
            else if (answers[i])
                take(detector, *answers[i]);
        }
        return std::move(found_);
    }

private:
    void warn_of(const Error& error) {
        auto text = error.message + "; detector ignored";
        if (!error.hint.empty()) text += fmt::format(" ({})", error.hint);
        found_.warnings.push_back(std::move(text));
    }

    void note(const Detector& detector, std::string_view what) {
        found_.notes.push_back(fmt::format("detector {}: {}", detector.file.native(), what));
    }

    /// The first thing that the machine would need to have.
    const Look* missing_for(const Detector& detector) const {
        const auto missing = std::ranges::find_if_not(
            detector.when, [&](const Look& look) { return holds(host_, look); });
        return missing == detector.when.end() ? nullptr : &*missing;
    }

    void see(const Detector& detector) {
        std::vector<std::string> names;
        for (const auto& [package, version_from] : detector.packages) {
            auto seen = package;
            if (version_from) {
                auto version = version_seen(host_, *version_from);
                if (!version) continue;
                seen.version = *std::move(version);
            }
            names.push_back(seen.to_string());
            add(detector, std::move(seen), detector.file.native());
        }
        note(detector,
             names.empty() ? "found nothing" : fmt::format("found {}", fmt::join(names, ", ")));
    }

    /// A detector that asks gpkg something is not asked in turn.
    bool runs_program(const Detector& detector) const {
        if (detector.run.empty() || host_.detectors.program.empty() || host_.env(kProbingVariable))
            return false;
        const bool is_decided = !detector.yields.empty() &&
                                std::ranges::all_of(detector.yields, [&](const std::string& name) {
                                    return std::ranges::find(decided_, name) != decided_.end();
                                });
        return !is_decided;
    }

    void take(const Detector& detector, const Asked& asked) {
        if (!asked.warning.empty()) {
            found_.warnings.push_back(asked.warning);
            note(detector, "its program failed");
            return;
        }
        std::vector<std::string> names;
        for (const auto& package : asked.answer.packages) {
            names.push_back(package.to_string());
            add(detector, package, source_of(detector, asked));
        }
        for (const auto& gpu : asked.answer.gpus) {
            names.push_back(gpu.name);
            found_.gpus.push_back(gpu);
        }
        note(detector,
             fmt::format("{}{}",
                         asked.from_cache ? "cached: " : "its program found ",
                         names.empty() ? "nothing" : fmt::format("{}", fmt::join(names, ", "))));
    }

    void add(const Detector& detector, VirtualPackage package, const std::string& source) {
        const auto [first, is_first] = finders_.emplace(package.name, detector.file.native());
        // What one file says twice are two ways to find the same.
        if (!is_first && first->second == detector.file) return;
        if (is_first)
            found_.packages.push_back({std::move(package), source});
        else
            found_.warnings.push_back(fmt::format("{}: {} is already set by {}, which has priority",
                                                  detector.file.native(),
                                                  package.name,
                                                  first->second));
    }

    const Host& host_;
    const std::vector<std::string>& decided_;
    std::map<std::string, std::string> finders_;
    Detected found_;
};

}  // namespace

Detected ask_detectors(const Host& host, const std::vector<std::string>& decided) {
    return Asking(host, decided).all();
}

std::vector<std::string> detectable_packages(const Host& host) {
    std::set<std::string> names;
    for (const auto& file : files_of(host)) {
        if (const auto detector = read_detector(file)) {
            const auto more = detector->names();
            names.insert(more.begin(), more.end());
        }
    }
    return {names.begin(), names.end()};
}

}  // namespace gpkg::virtual_packages
