#include "libcore/base/digest.hpp"
#include "libcore/base/text.hpp"
#include "libcore/spec/record_version.hpp"
#include "virtual-packages/answer_cache_internal.hpp"
#include "virtual-packages/child_internal.hpp"
#include "virtual-packages/detector_program_internal.hpp"
#include "virtual-packages/forms_internal.hpp"
#include "virtual-packages/package_names_internal.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

namespace gpkg::virtual_packages {
namespace {

constexpr Form kAnswerForm{
    "detector output", "gpkg_detected", "docs/reference/hardware-profile.md explains it", 10'000};
/// What a program does not find today a driver that is loaded in a moment may let it find.
constexpr std::chrono::seconds kLifetimeOfNothing{10 * 60};
constexpr std::string_view kConfined = "confined";

/// Beside the file that names it, or where a path from / says.
fs::path program_of(const Detector& detector) {
    return detector.file.parent_path() / detector.run.front();
}

std::string facts_of(const Host& host, const Detector& detector) {
    auto facts = fmt::format("file {} {}\nprogram {}\n",
                             detector.file.native(),
                             detector.text,
                             stamp(program_of(detector)));
    for (const auto& look : detector.when)
        for (const auto& [path, text] : sights(host, look))
            facts += fmt::format("{} {}\n", path.native(), text);
    for (const auto& device : detector.devices)
        for (const auto& path : matching_paths(host.root, device))
            facts += fmt::format("device {}\n", path.native());
    return facts;
}

/// Little enough for an answer to be the same for everybody: where programs are, and where the
/// loader finds the libraries that an environment module brings.
std::vector<std::string> environment_of(const Host& host) {
    std::vector<std::string> environment{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"};
    if (const auto path = host.env("LD_LIBRARY_PATH"))
        environment.push_back("LD_LIBRARY_PATH=" + *path);
    return environment;
}

Child child_of(const Host& host, const Detector& detector) {
    auto arguments = host.detectors.program;
    for (const auto& device : detector.devices)
        for (const auto& path : matching_paths(host.root, device))
            arguments.push_back(path.native());
    arguments.emplace_back("--");
    arguments.push_back(program_of(detector).native());
    arguments.insert(arguments.end(), detector.run.begin() + 1, detector.run.end());
    return {std::move(arguments), environment_of(host), host.detectors.limit};
}

/// The last line of what a program complains of: there it says what kept it from going on.
std::string reason_in(std::string_view complaint) {
    const auto lines = split(trim(complaint), '\n');
    const auto line = trim(lines.back());
    return line.empty() ? "" : ": " + printable(line);
}

/// How the program failed; empty when it came to its end well.
std::string failure_of(const ChildOutcome& outcome, std::chrono::milliseconds limit) {
    if (!outcome.start_failure.empty()) return "cannot be run: " + outcome.start_failure;
    if (outcome.flooded || outcome.truncated) return "printed more than 64 KiB";
    if (outcome.timed_out)
        return fmt::format("did not respond within {} and was stopped", seconds_text(limit));
    if (outcome.signal)
        return fmt::format(
            "crashed ({}){}", ::strsignal(*outcome.signal), reason_in(outcome.complaint));
    if (outcome.exit_status != 0)
        return fmt::format("exited with status {}{}",
                           outcome.exit_status.value_or(-1),
                           reason_in(outcome.complaint));
    return {};
}

/// Takes the line that confine_main writes off the front. False when it is not there.
bool take_confinement(std::string_view& text, std::vector<std::string>& unconfined) {
    const auto end = text.find('\n');
    const auto words = split(text.substr(0, end), ' ');
    if (end == std::string_view::npos || words.front() != kConfined) return false;
    for (const std::string_view word : {"writing", "network"})
        if (std::ranges::find(words, word) == words.end()) unconfined.emplace_back(word);
    text.remove_prefix(end + 1);
    return true;
}

/// Why it does not do; empty when it does.
std::string judge(std::string_view text, const Detector& detector, Asked& asked) {
    if (!take_confinement(text, asked.unconfined)) return "was not confined; its output is ignored";
    auto answer = parse_answer(text, "its output", detector.yields);
    if (!answer) return answer.error().message;
    asked.answer = *std::move(answer);
    return {};
}

bool is_nothing(const Answer& answer) { return answer.packages.empty() && answer.gpus.empty(); }

std::optional<Asked> remembered(const AnswerCache& cache, const Detector& detector) {
    const auto text = cache.read();
    if (!text) return std::nullopt;
    Asked asked;
    asked.from_cache = true;
    if (!judge(*text, detector, asked).empty()) return std::nullopt;
    if (is_nothing(asked.answer) && !cache.read(kLifetimeOfNothing)) return std::nullopt;
    return asked;
}

std::string say_it(const Detector& detector) {
    if (detector.yields.empty()) return {};
    return fmt::format("; set {} instead", override_variable(detector.yields.front()));
}

Result<void> take_package(const yaml::Node& node,
                          const std::vector<std::string>& yields,
                          Answer& answer) {
    GPKG_TRY(auto package, read_virtual_package(node));
    if (package.version == kAnyVersion) return node.fail("expected one version, not any");
    if (std::ranges::find(yields, package.name) == yields.end())
        return node.fail(package.name + " is not listed in yields: of its file");
    const auto is_same = [&](const auto& other) { return other.name == package.name; };
    if (std::ranges::any_of(answer.packages, is_same))
        return node.fail(package.name + " is listed twice");
    answer.packages.push_back(std::move(package));
    return {};
}

Result<void> take_gpu(const yaml::Node& node, Answer& answer) {
    GPKG_TRY(auto gpu, read_gpu(node));
    if (gpu.vendor != GpuVendor::Intel)
        return node.fail(
            fmt::format("GPUs of {} are detected by gpkg itself", vendor_name(gpu.vendor)));
    gpu.name = printable(gpu.name);
    answer.gpus.push_back(std::move(gpu));
    return {};
}

}  // namespace

Result<Answer> parse_answer(std::string_view text,
                            const std::string& where,
                            const std::vector<std::string>& yields) {
    GPKG_TRY(const auto root, parse_form(text, where, kAnswerForm));
    GPKG_CHECK(check_keys(root, {"gpkg_detected", "virtual_packages", "gpus"}));
    Answer answer;
    GPKG_TRY(const auto* packages, find_list(root, "virtual_packages", "virtual packages"));
    if (packages != nullptr)
        for (const auto& item : packages->items()) GPKG_CHECK(take_package(item, yields, answer));
    GPKG_TRY(const auto* gpus, find_list(root, "gpus", "GPUs"));
    if (gpus != nullptr)
        for (const auto& item : gpus->items()) GPKG_CHECK(take_gpu(item, answer));
    return answer;
}

Asked ask_program(const Host& host, const Detector& detector) {
    const auto file = detector.file.native();
    const AnswerCache cache(host,
                            host.detectors.cache_folder,
                            "detector-" + hex_digest(DigestKind::Sha256, file).substr(0, 8),
                            facts_of(host, detector));
    if (auto known = remembered(cache, detector)) return *std::move(known);

    Asked asked;
    asked.from_cache = cache.read_unfinished().has_value();
    ChildOutcome outcome;
    outcome.timed_out = true;
    if (!asked.from_cache) outcome = run_bounded(child_of(host, detector));
    auto failure = failure_of(outcome, host.detectors.limit);
    if (failure.empty()) failure = judge(outcome.output, detector, asked);
    if (failure.empty()) {
        cache.write(outcome.output);
        return asked;
    }
    if (outcome.timed_out && !asked.from_cache) cache.write_unfinished("");
    asked.warning = fmt::format("{}: {}: {}{}{}",
                                file,
                                program_of(detector).filename().native(),
                                failure,
                                say_it(detector),
                                asked.from_cache ? kAskedAgain : "");
    return asked;
}

}  // namespace gpkg::virtual_packages
