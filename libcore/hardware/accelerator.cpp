#include "libcore/hardware/accelerator.hpp"

#include "libcore/base/text.hpp"
#include "libcore/spec/match_spec.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace gpkg {
namespace {

using Verdict = std::optional<Accelerator>;

/// "cuda129" and "cu102" of "py39_cu102_0"; not "custom". Without a toolkit they are for none:
/// "cuNone" (torchvision-cpu), "cuda_None" (ambertools), "cuda0.0" (faiss-cpu), "no_cuda".
Verdict meaning_of_token(std::string_view before, std::string_view token, std::string_view behind) {
    const auto is_switched_off = [&] {
        return before == "no" || before == "without" || behind.starts_with("None") ||
               behind == "off" || behind.starts_with("off_");
    };
    for (const auto& vendor : vendors()) {
        for (const auto word : vendor.release_words) {
            if (!token.starts_with(word)) continue;
            const auto release = token.substr(word.size());
            if (release == "None" || release == "0.0" || (release.empty() && is_switched_off()))
                return Accelerator::None;
            if (!release.empty() && is_digit(release.front())) return vendor.accelerator;
        }
    }
    return accelerator_of_word(token);
}

/// Packages of which one build is in an environment, and says which builds of others are.
bool is_mutex(std::string_view name) {
    return name.ends_with("-proc") || name == "pytorch-mutex" || name == "_tensorflow_select" ||
           name == "pytorch" || name == "libtorch" || name == "jaxlib" || name == "tensorflow-base";
}

/// What a dependency on such a name says, whatever the version.
Verdict meaning_of_name(std::string_view name) {
    if (const auto vendor = vendor_of_virtual_package(name)) return vendor;
    const auto names_it = [&](const Vendor& row) {
        return is_one_of(name, row.build_selectors) || row.has_part(name);
    };
    for (const auto& row : accelerator_rows()) {
        if (is_one_of(name, row.without_gpu)) return std::nullopt;
        if (names_it(row)) return row.accelerator;
    }
    return std::nullopt;
}

/// What is read of most dependencies is their name. Those on a condition say nothing.
HintedAccelerator accelerator_of_text(const std::string& depend) {
    const auto name = name_in_spec(depend);
    if (!is_mutex(name) && depend.find_first_of("[;") == std::string::npos)
        return accelerator_of_dependency(name, "");
    const auto spec = MatchSpec::parse(depend);
    if (!spec || spec->when) return {};
    return accelerator_of_dependency(name, spec->build ? spec->build->text() : "");
}

}  // namespace

void HintedAccelerator::take(const HintedAccelerator& other) {
    if (other.hint > hint) {
        *this = other;
    } else if (other.hint == hint && hint == AcceleratorHint::Library) {
        const bool is_other = other.accelerator != accelerator;
        is_for_either = is_for_either || (is_other && other.accelerator != Accelerator::None &&
                                          accelerator != Accelerator::None);
    }
}

std::string_view to_string(Accelerator accelerator) { return row_of(accelerator).name; }
std::string_view compute_platform(Accelerator accelerator) { return row_of(accelerator).toolkit; }
std::string_view vendor_title(Accelerator accelerator) { return row_of(accelerator).title; }

std::optional<Accelerator> vendor_of(AcceleratorChoice choice) {
    const auto found = std::ranges::find(vendors(), choice, &Vendor::choice);
    return found == vendors().end() ? std::nullopt : std::optional(found->accelerator);
}

std::optional<Accelerator> vendor_of_virtual_package(std::string_view name) {
    for (const auto& vendor : vendors()) {
        if (vendor.has_virtual_package(name)) return vendor.accelerator;
    }
    return std::nullopt;
}

std::string_view to_string(AcceleratorChoice choice) {
    if (choice == AcceleratorChoice::Auto) return "auto";
    if (choice == AcceleratorChoice::Conda) return "conda";
    return row_of(vendor_of(choice).value_or(Accelerator::None)).name;
}

Result<AcceleratorChoice> parse_accelerator_choice(std::string_view text) {
    std::vector<AcceleratorChoice> choices{AcceleratorChoice::Auto};
    for (const auto& vendor : vendors()) choices.push_back(vendor.choice);
    choices.insert(choices.end(), {AcceleratorChoice::None, AcceleratorChoice::Conda});
    if (text == "cpu") return AcceleratorChoice::None;
    std::vector<std::string> known;
    for (const auto choice : choices) {
        if (to_string(choice) == text) return choice;
        known.emplace_back(to_string(choice));
    }
    const auto lower = to_lower(text);
    auto near = near_names(lower, known);
    // What people say for them, "cuda" and "rocm", is near in meaning.
    if (const auto meant = accelerator_of_word(lower)) near = {std::string(to_string(*meant))};
    return fail(ErrorKind::Usage,
                fmt::format("{}: not an accelerator", text.empty() ? "''" : text),
                did_you_mean(near, "use " + join_or(known)));
}

std::optional<Accelerator> accelerator_of_word(std::string_view word) {
    for (const auto& row : accelerator_rows()) {
        if (is_one_of(word, row.words) || begins_with_one_of(word, row.word_beginnings))
            return row.accelerator;
    }
    return std::nullopt;
}

/// "cuda", "accel:nvidia", "gpu:amd", "sm:90a".
std::optional<Accelerator> accelerator_of_flag(std::string_view flag) {
    const auto colon = flag.find(':');
    if (colon == std::string_view::npos) return accelerator_of_word(flag);
    const auto name = flag.substr(0, colon);
    if (name == "accel" || name == "gpu") return accelerator_of_word(flag.substr(colon + 1));
    for (const auto& vendor : vendors()) {
        if (name == vendor.word || is_one_of(name, vendor.code_flags)) return vendor.accelerator;
    }
    return std::nullopt;
}

/// "pytorch-mutex 1.0 cuda", "faiss-proc * cpu", "pytorch * cuda*".
HintedAccelerator accelerator_of_dependency(std::string_view name, std::string_view build) {
    if (const auto verdict = meaning_of_name(name))
        return {name.starts_with("__") ? AcceleratorHint::Machine : AcceleratorHint::Library,
                *verdict,
                false};
    if (!is_mutex(name)) return {};
    if (const auto verdict = accelerator_of_build(build))
        return {AcceleratorHint::Mutex, *verdict, false};
    return {};
}

std::optional<Accelerator> accelerator_of_build(std::string_view build) {
    while (build.starts_with('*') || build.starts_with('^')) build.remove_prefix(1);
    std::string_view before;
    while (!build.empty()) {
        const auto end = std::min(build.find('_'), build.size());
        const auto token = build.substr(0, end);
        build.remove_prefix(std::min(end + 1, build.size()));
        if (const auto verdict = meaning_of_token(before, token, build)) return verdict;
        before = token;
    }
    return std::nullopt;
}

bool is_vendor_part(std::string_view name) {
    return std::ranges::any_of(vendors(),
                               [&](const auto& vendor) { return vendor.has_part(name); });
}

bool is_framework(std::string_view name) {
    constexpr auto kFrameworks = std::to_array<std::string_view>(
        {"pytorch", "libtorch", "torch", "tensorflow", "tensorflow-base", "jaxlib"});
    return is_one_of(name, kFrameworks);
}

std::optional<Accelerator> accelerator_of(const std::vector<std::string>& flags,
                                          const HintedAccelerator& dependencies,
                                          std::string_view build) {
    for (const auto& flag : flags) {
        if (const auto verdict = accelerator_of_flag(flag)) return verdict;
    }
    if (dependencies.is_for_either) return std::nullopt;
    if (dependencies.hint != AcceleratorHint::Nothing) return dependencies.accelerator;
    return accelerator_of_build(build);
}

AcceleratorOf accelerator_of(const PackageRecord& record) {
    if (is_vendor_part(record.name)) return {};
    // Of what the dependencies say, the first that counts most.
    HintedAccelerator best;
    std::string evidence = "build " + record.build;
    for (const auto& depend : record.depends) {
        const auto found = accelerator_of_text(depend);
        if (found.hint > best.hint) evidence = "needs " + depend;
        best.take(found);
    }
    const auto flag = std::ranges::find_if(
        record.flags, [](const auto& one) { return accelerator_of_flag(one).has_value(); });
    const bool has_flag = flag != record.flags.end();
    const auto accelerator = accelerator_of(record.flags, best, record.build);
    if (!accelerator) return {Accelerator::None, "", false, best.is_for_either};
    const bool is_by_library = !has_flag && best.hint == AcceleratorHint::Library &&
                               accelerator_of_build(record.build) != *accelerator;
    return {*accelerator, has_flag ? "flag " + *flag : evidence, is_by_library};
}

}  // namespace gpkg
