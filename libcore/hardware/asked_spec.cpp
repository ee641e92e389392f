#include "libcore/hardware/asked_spec.hpp"

#include "libcore/base/text.hpp"
#include "libcore/spec/brackets.hpp"
#include "libcore/spec/names.hpp"
#include "libcore/spec/spec_text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <utility>

namespace gpkg {
namespace {

constexpr std::string_view kKey = "accel";

/// The text without the bracket entry at `place`.
std::string without_entry(std::string_view text,
                          std::size_t begin,
                          const grammar::Brackets& brackets,
                          std::size_t place) {
    const auto& entries = brackets.entries;
    if (entries.size() == 1)
        return std::string(text.substr(0, begin)) + std::string(text.substr(brackets.end));
    if (place + 1 < entries.size())
        return std::string(text.substr(0, entries[place].key_at)) +
               std::string(text.substr(entries[place + 1].key_at));
    auto before = text.substr(0, entries[place].key_at);
    before.remove_suffix(before.size() - 1 - before.find_last_not_of(" \t,"));
    return std::string(before) + std::string(text.substr(brackets.end - 1));
}

tl::unexpected<Error> refuse(std::string_view text, Error error) {
    error.message = fmt::format("{}: {}", text, error.message);
    return pass(std::move(error));
}

/// The names in "jax[cuda12_local, k8s]", as pip asks for extras of a package; none where the
/// brackets hold anything else.
std::vector<std::string> extras_of_pip(std::string_view text, std::size_t begin) {
    const auto end = text.find(']', begin);
    if (end == std::string_view::npos) return {};
    std::vector<std::string> extras;
    for (const auto word : split(text.substr(begin + 1, end - begin - 1), ',')) {
        const auto extra = trim(word);
        if (!is_extra_name(extra)) return {};
        extras.emplace_back(extra);
    }
    return extras;
}

/// What to write in their place. Where their words are those of builds, such a build is meant.
std::string instead_of_extras(std::string_view name, const std::vector<std::string>& extras) {
    auto of_pip = "list pip extras under 'pip:' in an environment.yml";
    for (auto extra : extras) {
        std::replace(extra.begin(), extra.end(), '-', '_');
        if (const auto meant = accelerator_of_build(extra))
            return fmt::format(
                "for that build, use {}[{}={}]; {}", name, kKey, to_string(*meant), of_pip);
    }
    return fmt::format("{}; for extras of a conda package, use {}[extras=[{}]]",
                       of_pip,
                       name,
                       fmt::join(extras, ", "));
}

constexpr std::string_view kSelect = "hardware-select-";
constexpr std::string_view kFallback = "hardware-fallback-";

/// What stands behind "hardware-select-" and "hardware-fallback-".
struct Selectable {
    std::string name;
    AcceleratorChoice choice;
    std::string_view platform{};  ///< how the platforms end that it is for; empty: all
};

std::vector<Selectable> selectable() {
    std::vector<Selectable> all;
    for (const auto& vendor : vendors())
        all.push_back({fmt::format("gpu-{}", vendor.name), vendor.choice});
    all.push_back({"cpu", AcceleratorChoice::None});
    all.push_back({"cpu-x86_64", AcceleratorChoice::None, "-64"});
    for (const std::string_view ending : {"-aarch64", "-arm64", "-ppc64le"})
        all.push_back({fmt::format("cpu{}", ending), AcceleratorChoice::None, ending});
    return all;
}

std::vector<std::string> selectors_of(std::string_view kind) {
    std::vector<std::string> selectors;
    for (const auto& one : selectable()) selectors.push_back(std::string(kind) + one.name);
    return selectors;
}

tl::unexpected<Error> no_selector(std::string_view text, std::string hint) {
    return fail(
        ErrorKind::Usage, fmt::format("{}: not a hardware selector", text), std::move(hint));
}

/// "hardware-selectgpu-nvidia" is meant as a selector; no package has such a name.
Result<void> refuse_misspelled_selector(std::string_view text) {
    constexpr std::size_t kShortest = 12;  // as near as that to any of them is no other name
    if (text.size() < kShortest) return {};
    auto known = selectors_of(kSelect);
    for (auto& selector : selectors_of(kFallback)) known.push_back(std::move(selector));
    const auto near = near_names(text, known);
    if (near.empty()) return {};
    return no_selector(text, did_you_mean(near));
}

/// Nothing where the architecture is not the platform's.
Result<std::optional<AcceleratorChoice>> selected(std::string_view text,
                                                  std::string_view kind,
                                                  std::string_view platform) {
    for (const auto& [name, choice, ending] : selectable()) {
        if (text.substr(kind.size()) != name) continue;
        return platform.ends_with(ending) ? std::optional(choice) : std::nullopt;
    }
    const auto known = selectors_of(kind);
    const auto near = near_names(text, known);
    return no_selector(text, did_you_mean(near, "use " + join_or(known)));
}

}  // namespace

Result<std::vector<AcceleratorChoice>> parse_accelerator_choices(std::string_view text) {
    std::vector<AcceleratorChoice> choices;
    for (const auto word : split(text, ',')) {
        GPKG_TRY(choices.emplace_back(), parse_accelerator_choice(trim(word)));
    }
    return choices;
}

std::string to_string(const AcceleratorWishes& wishes) {
    std::vector<std::string> texts;
    // What a fallback follows on.
    if (wishes.all.empty() && !wishes.fallbacks.empty())
        texts.emplace_back(to_string(AcceleratorChoice::Auto));
    for (const auto* choices : {&wishes.all, &wishes.fallbacks}) {
        for (const auto choice : *choices) texts.emplace_back(to_string(choice));
    }
    auto text = fmt::format("{}", fmt::join(texts, ","));
    for (const auto& [name, choice] : wishes.of_package)
        text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, to_string(choice));
    return text;
}

Result<AcceleratorWishes> parse_accelerator_wishes(std::string_view text) {
    AcceleratorWishes wishes;
    for (const auto word : split(text, ' ')) {
        if (word.empty()) continue;
        const auto equals = word.find('=');
        if (equals == std::string_view::npos) {
            GPKG_TRY(wishes.all, parse_accelerator_choices(word));
            continue;
        }
        GPKG_TRY(wishes.of_package[std::string(word.substr(0, equals))],
                 parse_accelerator_choice(word.substr(equals + 1)));
    }
    return wishes;
}

std::vector<std::string> AcceleratorWishes::unheeded() const {
    std::vector<std::string> unheeded;
    for (const auto& selector : elsewhere) {
        const auto& heeded = selector.starts_with(kSelect) ? all : fallbacks;
        if (heeded.empty()) unheeded.push_back(selector);
    }
    return unheeded;
}

void AcceleratorWishes::override_with(const AcceleratorWishes& later) {
    if (!later.all.empty() || !later.fallbacks.empty()) {
        all = later.all;
        fallbacks = later.fallbacks;
    }
    for (const auto& [name, choice] : later.of_package) of_package[name] = choice;
    elsewhere.insert(elsewhere.end(), later.elsewhere.begin(), later.elsewhere.end());
}

Result<void> Asked::take(std::string_view text, std::string_view platform) {
    const auto selector = to_lower(text);  // like the name of a package
    for (const auto kind : {kSelect, kFallback}) {
        if (!selector.starts_with(kind)) continue;
        GPKG_TRY(const auto choice, selected(selector, kind, platform));
        auto& order = kind == kSelect ? accelerators.all : accelerators.fallbacks;
        if (!choice) {
            accelerators.elsewhere.push_back(selector);
        } else if (std::find(order.begin(), order.end(), *choice) == order.end()) {
            order.push_back(*choice);
        }
        return {};
    }
    GPKG_CHECK(refuse_misspelled_selector(selector));
    GPKG_TRY(auto asked, AskedSpec::parse(text));
    if (asked.accelerator) {
        const auto [known, is_new] =
            accelerators.of_package.emplace(asked.spec.name, *asked.accelerator);
        if (!is_new && known->second != *asked.accelerator)
            return fail(ErrorKind::Usage,
                        fmt::format("{}: the accelerator of {} is already set to {}",
                                    text,
                                    asked.spec.name,
                                    to_string(known->second)),
                        "an environment has one build of each package");
    }
    specs.push_back(std::move(asked.spec));
    return {};
}

void Asked::take(Asked more) {
    accelerators.override_with(more.accelerators);
    specs.insert(specs.end(),
                 std::make_move_iterator(more.specs.begin()),
                 std::make_move_iterator(more.specs.end()));
}

std::string as_typed(const AskedSpec& asked) {
    auto text = as_typed(asked.spec);
    if (!asked.accelerator) return text;
    const bool has_brackets = text.ends_with(']');
    if (has_brackets) text.pop_back();
    return fmt::format(
        "{}{}{}={}]", text, has_brackets ? "," : "[", kKey, to_string(*asked.accelerator));
}

Result<AskedSpec> AskedSpec::parse(std::string_view text) {
    const auto as_it_is = [&]() -> Result<AskedSpec> {
        GPKG_TRY(auto plain, MatchSpec::parse(text));
        return AskedSpec{std::move(plain), std::nullopt};
    };
    // Also the pattern of a build may have a '[': what is not read here is left to MatchSpec.
    const auto begin = text.find('[');
    if (begin == std::string_view::npos) return as_it_is();
    const auto brackets = grammar::read_brackets(text, begin);
    if (!brackets) {
        auto plain = as_it_is();
        if (const auto extras = extras_of_pip(text, begin); !plain && !extras.empty())
            plain.error().hint = instead_of_extras(trim(text.substr(0, begin)), extras);
        return plain;
    }
    const auto& entries = brackets->entries;
    for (std::size_t place = 0; place < entries.size(); ++place) {
        const auto& entry = entries[place];
        if (entry.key != kKey) {
            if (!near_names(entry.key, std::vector{std::string(kKey)}).empty())
                return fail(ErrorKind::Usage,
                            fmt::format("{}: '{}' is not a key of a spec", text, entry.key),
                            fmt::format("did you mean {}?", kKey));
            continue;
        }
        if (entry.is_list)
            return fail(ErrorKind::Usage,
                        fmt::format("{}: '{}' takes one value, not a list", text, kKey),
                        "to try several for all packages, use --accel nvidia,none");
        auto choice = parse_accelerator_choice(entry.values.front().text);
        if (!choice) return refuse(text, std::move(choice).error());
        GPKG_TRY(auto rest, AskedSpec::parse(without_entry(text, begin, *brackets, place)));
        if (rest.accelerator)
            return fail(ErrorKind::Usage, fmt::format("{}: '{}' is given twice", text, kKey));
        rest.accelerator = *choice;
        return rest;
    }
    return as_it_is();
}

}  // namespace gpkg
