#include "virtual-packages/cuda.hpp"

#include "libcore/base/number.hpp"
#include "libcore/base/text.hpp"
#include "virtual-packages/answer_cache_internal.hpp"
#include "virtual-packages/child_internal.hpp"
#include "virtual-packages/cuda_internal.hpp"
#include "virtual-packages/library_files_internal.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <fmt/format.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace gpkg::virtual_packages {
namespace {

constexpr int kNoDevice = 100;
/// One of them alone leaves a question to the driver (CEP 46 detects __cuda_arch also where __cuda
/// is overridden).
constexpr std::string_view kSayIt = "set CONDA_OVERRIDE_CUDA and CONDA_OVERRIDE_CUDA_ARCH instead";

std::string_view init_failure(int code) {
    switch (code) {
    case 3: return "not initialized";
    case 34: return "a stub library";
    case 101: return "invalid device";
    case 304: return "the operating system refused";
    case 802: return "the system is not ready: is the fabric manager running?";
    case 803: return "the driver's kernel module and library differ: a reboot loads the new one";
    case 804: return "the forward-compatibility library does not support this device";
    case 999: return "unknown error";
    default: return code >= 805 && code <= 809 ? "the MPS server refused" : "see CUresult";
    }
}

/// Cuts the first word off `rest`.
std::string_view next_word(std::string_view& rest) {
    const auto space = rest.find(' ');
    const auto word = rest.substr(0, space);
    rest = space == std::string_view::npos ? std::string_view{} : rest.substr(space + 1);
    return word;
}

std::optional<std::uint64_t> next_number(std::string_view& rest, std::string_view label = "") {
    if (!label.empty() && next_word(rest) != label) return std::nullopt;
    return whole_number<std::uint64_t>(next_word(rest));
}

/// "0 cc 9 0 memory 85899345920 name NVIDIA H100 80GB HBM3"
std::optional<GpuDevice> parse_device(std::string_view rest) {
    const auto ordinal = next_number(rest);
    const auto major = next_number(rest, "cc");
    const auto minor = next_number(rest);
    const auto memory = next_number(rest, "memory");
    if (!ordinal || !major || !minor || !memory || next_word(rest) != "name") return std::nullopt;
    if (*major == 0 || *major > 99 || *minor > 99) return std::nullopt;
    return GpuDevice{GpuVendor::Nvidia,
                     std::string(trim(rest)),
                     fmt::format("{}.{}", *major, *minor),
                     *memory >> 20U,
                     0};
}

std::optional<int> parse_int(std::string_view text, int least, int most) {
    const auto value = whole_number<std::uint64_t>(text);
    if (!value || *value > static_cast<std::uint64_t>(most)) return std::nullopt;
    const auto number = static_cast<int>(*value);
    return number < least ? std::nullopt : std::optional(number);
}

/// False when this is no line of the probe's.
bool take_line(std::string_view line, ProbeText& text) {
    auto rest = line;
    const auto word = next_word(rest);
    auto& report = text.report;
    if (word == "probe" && rest.empty()) return text.started = true;
    if (word == "end" && rest.empty()) return text.ended = true;
    if (word == "library" && !rest.empty()) {
        report.library = rest;
        return true;
    }
    if (word == "rejected" && !rest.empty()) {
        text.rejected.emplace_back(rest);
        return true;
    }
    if (word == "driver") return (report.driver = parse_int(rest, 1000, 99990)).has_value();
    if (word == "init") return (report.init = parse_int(rest, 0, 99999)).has_value();
    if (word == "devices") return (text.announced = parse_int(rest, 0, 4096)).has_value();
    if (word != "device") return false;
    auto device = parse_device(rest);
    if (!device) return false;
    report.devices.push_back(*std::move(device));
    return true;
}

/// What stayed unknown because the child hung, crashed or was wrong; `how` it did.
std::string unknown_after(const CudaReport& report, std::string_view how) {
    if (!report.driver)
        return fmt::format("the CUDA driver {} before it reported its version; {}", how, kSayIt);
    const auto* step = report.init ? "while listing its devices" : "in cuInit";
    const auto count = report.devices.size();
    const auto known =
        count == 0
            ? std::string("its devices are unknown")
            : fmt::format("only {} of its devices {} known", count, count == 1 ? "is" : "are");
    return fmt::format(
        "the CUDA driver {} {} {}: {}; {}", report.library, how, step, known, kSayIt);
}

void judge(const ProbeText& text,
           const ChildOutcome& outcome,
           const Host& host,
           CudaReport& report) {
    auto& warnings = report.warnings;
    if (outcome.flooded) {
        warnings.push_back(unknown_after(report, "printed too much and was stopped"));
    } else if (outcome.timed_out) {
        const auto how = fmt::format("did not respond within {} and was abandoned",
                                     seconds_text(host.cuda.limit));
        warnings.push_back(unknown_after(report, how));
    } else if (outcome.signal) {
        const auto how = fmt::format("crashed ({})", ::strsignal(*outcome.signal));
        warnings.push_back(unknown_after(report, how));
    } else if (!text.ended && text.started) {
        const auto how = fmt::format("exited with status {}", outcome.exit_status.value_or(-1));
        warnings.push_back(unknown_after(report, how));
    } else if (!text.ended) {
        warnings.push_back(
            fmt::format("{}: not a CUDA probe: it exited with status {} without "
                        "output; {}",
                        host.cuda.program.front(),
                        outcome.exit_status.value_or(-1),
                        kSayIt));
    } else if (!report.driver) {
        for (const auto& rejected : text.rejected) warnings.push_back(rejected + "; ignored");
    } else if (!report.init) {
        warnings.push_back(report.library + ": has no cuInit or no cuDeviceGetCount");
    } else if (*report.init != 0 && *report.init != kNoDevice) {
        warnings.push_back(fmt::format("{}: cuInit returned {} ({}): no device can be used",
                                       report.library,
                                       *report.init,
                                       init_failure(*report.init)));
    } else if (report.init == 0 && !text.announced && warnings.empty()) {
        warnings.push_back(fmt::format("{}: does not list its devices", report.library));
    } else if (text.announced &&
               static_cast<std::size_t>(*text.announced) != report.devices.size()) {
        warnings.push_back(fmt::format("{}: only {} of {} devices responded",
                                       report.library,
                                       report.devices.size(),
                                       *text.announced));
    }
}

/// True for an answer that will be the same next time.
bool is_lasting(const CudaReport& report) {
    return report.driver && report.init == 0 && !report.devices.empty() && report.warnings.empty();
}

/// An empty or wrong CUDA_VISIBLE_DEVICES would hide what the machine has; and whatever order a
/// shell asks for, devices have the numbers that nvidia-smi gives them.
std::vector<std::string> probe_environment() {
    std::vector<std::string> kept{"CUDA_DEVICE_ORDER=PCI_BUS_ID"};
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text(*entry);
        if (!text.starts_with("CUDA_VISIBLE_DEVICES=") && !text.starts_with("CUDA_DEVICE_ORDER="))
            kept.emplace_back(text);
    }
    return kept;
}

/// Asks the driver, and keeps what will be the same next time.
CudaReport ask_driver(const Host& host, const AnswerCache& cache) {
    auto arguments = host.cuda.program;
    arguments.insert(arguments.end(), host.cuda.libraries.begin(), host.cuda.libraries.end());
    auto outcome = run_bounded({arguments, probe_environment(), host.cuda.limit});
    if (!outcome.start_failure.empty()) {
        CudaReport report;
        report.warnings.push_back(fmt::format("{}: cannot start the CUDA probe: {}; {}",
                                              arguments.front(),
                                              outcome.start_failure,
                                              kSayIt));
        return report;
    }
    auto text = parse_probe_text(outcome.output);
    auto report = std::move(text.report);
    judge(text, outcome, host, report);
    if (is_lasting(report)) cache.write(outcome.output);
    if (outcome.timed_out) cache.write_unfinished(outcome.output);
    return report;
}

std::optional<CudaReport> remembered(const Host& host, const AnswerCache& cache) {
    if (const auto known = cache.read()) {
        auto text = parse_probe_text(*known);
        if (!text.ended || !is_lasting(text.report)) return std::nullopt;
        text.report.from_cache = true;
        return std::move(text.report);
    }
    if (const auto known = cache.read_unfinished()) {
        auto text = parse_probe_text(*known);
        ChildOutcome outcome;
        outcome.timed_out = true;
        judge(text, outcome, host, text.report);
        text.report.warnings.back() += kAskedAgain;
        text.report.from_cache = true;
        return std::move(text.report);
    }
    return std::nullopt;
}

/// What an answer of the driver depends on.
std::string facts_of(const Host& host) {
    std::string facts;
    for (const auto* file : {"proc/driver/nvidia/version", "sys/module/nvidia/version"})
        facts += fmt::format("{} {}\n", file, read_file(host.root / file).value_or(""));
    for (const auto& gpu : sorted_names(host.root / "proc/driver/nvidia/gpus", ""))
        facts += fmt::format("gpu {}\n", gpu);
    for (const auto& device : sorted_names(host.root / "dev", "nvidia"))
        facts += fmt::format("device {}\n", device);
    for (const auto& library : host.cuda.libraries)
        for (const auto& file : library_files(host, library))
            facts += fmt::format("library {}\n", stamp(file));
    return facts;
}

}  // namespace

ProbeText parse_probe_text(std::string_view text) {
    ProbeText found;
    bool complained = false;
    for (const auto line : split(text, '\n')) {
        if (line.empty() || take_line(line, found) || complained) continue;
        complained = true;
        found.report.warnings.push_back(
            fmt::format("unexpected output of the CUDA probe: \"{}\"", line.substr(0, 60)));
    }
    return found;
}

std::string cuda_version_text(int driver) {
    return fmt::format("{}.{}", driver / 1000, driver % 1000 / 10);
}

bool may_have_cuda(const Host& host) {
    // NVIDIA's kernel module, its device node, Windows' paravirtual GPU, a Tegra board.
    constexpr auto kTraces = std::to_array<const char*>({"proc/driver/nvidia/version",
                                                         "sys/module/nvidia",
                                                         "dev/nvidiactl",
                                                         "dev/dxg",
                                                         "etc/nv_tegra_release"});
    const auto is_there = [&](const char* trace) {
        std::error_code code;
        return fs::exists(host.root / trace, code);
    };
    return std::ranges::any_of(kTraces, is_there) ||
           std::ranges::any_of(host.cuda.libraries, [&](const std::string& library) {
               return !library_files(host, library).empty();
           });
}

CudaReport probe_cuda(const Host& host) {
    if (host.cuda.program.empty() || host.env(kProbingVariable) || !may_have_cuda(host)) return {};
    const AnswerCache cache(host, host.cuda.cache_folder, "cuda", facts_of(host));
    if (auto known = remembered(host, cache)) return *std::move(known);
    return ask_driver(host, cache);
}

}  // namespace gpkg::virtual_packages
