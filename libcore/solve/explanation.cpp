#include "libcore/solve/explanation.hpp"

#include "libcore/base/text.hpp"
#include "libcore/hardware/accelerator.hpp"
#include "libcore/spec/match_spec.hpp"
#include "libcore/spec/record_version.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <regex>
#include <set>
#include <span>

namespace gpkg {
namespace {

using Line = ExplanationLine;
using Kind = ExplanationLine::Kind;

/// "CUDA" of "nvidia".
std::string platform_of(std::string_view accelerator) {
    for (const auto one : {Accelerator::None, Accelerator::Nvidia, Accelerator::Amd}) {
        if (to_string(one) == accelerator) return std::string(compute_platform(one));
    }
    return std::string(accelerator);
}

std::string subject(const Line& line) {
    const auto& builds = line.builds;
    const auto platform = platform_of(builds.accelerator);
    const auto variant = builds.variant.empty() ? "" : "with " + builds.variant;
    if (builds.count == 1 && !builds.build.empty()) {
        std::vector<std::string> remarks;
        if (!platform.empty()) remarks.push_back(platform + " build");
        if (!variant.empty()) remarks.push_back(variant);
        if (!remarks.empty() && !builds.as_before.empty()) remarks.push_back(builds.as_before);
        const auto text = fmt::format("{} {} {}", line.name, builds.lowest, builds.build);
        return remarks.empty() ? text : fmt::format("{} ({})", text, fmt::join(remarks, ", "));
    }
    auto text = builds.count < builds.of ? fmt::format("{} of {}", builds.count, builds.of)
                : builds.of == 2         ? std::string("both")
                                         : fmt::format("all {}", builds.of);
    text += fmt::format(
        "{}{} builds of {} {}", platform.empty() ? "" : " ", platform, line.name, builds.lowest);
    if (builds.lowest != builds.highest) text += " to " + builds.highest;
    if (!variant.empty()) text += " " + variant;
    if (!builds.as_before.empty()) text += fmt::format(" ({})", builds.as_before);
    return text;
}

std::string_view verb(const Line& line, bool one) {
    if (!line.some_restrict) return one ? "needs" : "need";
    if (!line.some_need) return one ? "allows only" : "allow only";
    return one ? "requires" : "require";
}

std::string versions_text(const std::vector<std::string>& versions) {
    constexpr std::size_t kFew = 4;
    if (versions.size() <= kFew) return join_some(versions, "and", kFew);
    return fmt::format(
        "{} to {} ({} versions)", versions.back(), versions.front(), versions.size());
}

/// versions_text(), with the neighbors of the version that `wanted` asks for: "1.18.5 to 2.5.2 (42
/// versions; nearest: 1.18.5 and 1.22.0)".
std::string versions_near(const std::vector<std::string>& versions, const std::string& wanted) {
    auto text = versions_text(versions);
    const auto spec = MatchSpec::parse(wanted);
    if (!text.ends_with(')') || !spec || !spec->version) return text;
    const auto literals = spec->version->literals();
    if (literals.empty()) return text;
    std::string above;
    for (const auto& one : versions) {  // the newest first
        const auto version = Version::parse(one);
        if (!version) continue;
        if (literals.front() < *version) {
            above = one;
            continue;
        }
        if (above.empty()) return text;
        text.pop_back();
        return text + fmt::format("; nearest: {} and {})", one, above);
    }
    return text;
}

/// "cuda126*" of cuda126_py312h1763f6d_306, "*_openblas" of 5_h4a7cf45_openblas: what tells builds
/// apart is what is chosen by hand; the rest is python's version, a hash and a number.
std::string variant(const std::string& build) {
    static const std::regex numbered("[0-9]+_(?:.*_)?([a-z]+)");
    if (std::smatch parts; std::regex_match(build, parts, numbered)) return "*_" + parts[1].str();
    static const std::regex rest(
        "(^|_)(py[0-9]+h|py[0-9]+_|py_?[0-9]|np[0-9]|h[0-9a-f]{7}|[0-9]+$).*");
    auto text = std::regex_replace(build, rest, "");
    return text.empty() || text == build ? build : text + "*";
}

std::string builds_text(const std::vector<std::string>& builds) {
    if (builds.size() == 1) return builds.front();
    std::vector<std::string> variants;
    for (const auto& build : builds) {
        auto text = variant(build);
        if (std::find(variants.begin(), variants.end(), text) == variants.end())
            variants.push_back(std::move(text));
    }
    return join_some(variants, "and", 6);
}

/// Empty where nothing is.
std::string left_out_text(const Line& line) {
    std::vector<std::string> items;
    for (const auto& out : line.left_out) {
        auto text = versions_text(out.versions);
        const bool has_count = text.ends_with(')');
        if (has_count) text.pop_back();
        items.push_back(fmt::format("{}{}{})", text, has_count ? ", " : " (", out.why));
    }
    return fmt::format("{}", fmt::join(items, ", "));
}

/// The platforms, of which noarch is one only if it is alone.
std::string platforms_text(std::vector<std::string> subdirs) {
    if (subdirs.size() > 1) std::erase(subdirs, "noarch");
    return join_some(subdirs, "and");
}

/// Why no package matches the spec `wanted`, or the name where that is empty: "package 'torch' not
/// found in conda-forge (linux-64)", "no version matches p>=5; available: 4 and 3".
std::string offer_text(const Line& line, const std::string& wanted) {
    if (line.askers > 1)
        return fmt::format("no {} satisfies {}",
                           line.name,
                           line.askers == 2 ? "both" : fmt::format("all {}", line.askers));
    if (!line.channels.empty())
        return fmt::format("package '{}' not found in {} ({})",
                           line.name,
                           join_some(line.channels, "or"),
                           platforms_text(line.subdirs));
    const auto rest = left_out_text(line);
    const auto& subject = wanted.empty() ? line.name : wanted;
    const auto instead = [&](std::string_view missing, const std::string& available) {
        if (!rest.empty()) return fmt::format("{}: cannot use {}; {}", subject, rest, available);
        return wanted.empty()
                   ? fmt::format("no {} of {} matches; {}", missing, line.name, available)
                   : fmt::format("no {} matches {}; {}", missing, wanted, available);
    };
    if (line.other_flags)
        return instead(
            "build",
            fmt::format("{} {} {}",
                        line.name,
                        versions_text(line.versions),
                        line.other_flags->empty()
                            ? "has no flags"
                            : "has the flags " + join_some(*line.other_flags, "and", 6)));
    if (!line.other_builds.empty())
        return instead("build",
                       fmt::format("builds of {} {}: {}",
                                   line.name,
                                   versions_text(line.versions),
                                   builds_text(line.other_builds)));
    if (!line.versions.empty())
        return instead("version", "available: " + versions_near(line.versions, wanted));
    if (line.left_out.size() == 1 && !line.left_out.front().lacked_build.empty()) {
        const auto& [why, versions, build] = line.left_out.front();
        return fmt::format("{} {} {} no {}",
                           line.name,
                           versions_text(versions),
                           versions.size() == 1 ? "has" : "have",
                           build);
    }
    return fmt::format("{}: cannot use {}", subject, rest);
}

std::string machine_needed(const ProblemChange& change) {
    if (change.name == "__cuda" && change.is_any_version) return "an NVIDIA driver";
    const auto version = ">= " + change.version;
    if (change.name == "__cuda") return "a driver for CUDA " + version;
    if (change.name == "__cuda_arch") return "a GPU with compute capability " + version;
    if (change.name == "__archspec") return "a CPU of type " + change.build;
    if (change.name == "__amdgpu") return "an AMD GPU";
    return fmt::format("{} {}", change.name.substr(2), version);
}

/// Of further specs, told by their names.
constexpr std::size_t kMostNames = 8;
/// So many lines are a short tree: with three fixes and two headings, 15.
constexpr std::size_t kShortTree = 10;

void add_new(std::vector<std::string>& names, const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

/// "3.8.* and >=3.10": what two lines ask of the package that `end` is about; empty where that is
/// not one plain spec each.
std::string both_asked(const std::vector<Line>& lines, const Line& end) {
    std::vector<std::string> texts;
    for (const auto& line : lines) {
        const bool is_asker = line.kind == Kind::Asks && line.target == end.name;
        const bool is_root = (line.kind == Kind::Request || line.kind == Kind::Pin) &&
                             line.name == end.name && line.depth == 0;
        if (!is_asker && !is_root) continue;
        const auto& specs = is_asker ? line.asks : line.specs;
        if (specs.size() != 1 || !specs.front().starts_with(end.name)) return {};
        const auto text = trim(std::string_view(specs.front()).substr(end.name.size()));
        if (text.empty() || std::string_view("[-_.").find(text.front()) != std::string_view::npos ||
            text.find(" if ") != std::string_view::npos ||
            text.find(" for ") != std::string_view::npos)
            return {};
        texts.emplace_back(text);
    }
    return texts.size() == 2 ? join_some(texts, "and") : "";
}

/// The lines of a tree before a line: "│  └─ ". `depths` are those of all lines.
std::string branch_before(const std::vector<int>& depths, std::size_t at) {
    std::string text;
    for (int level = 1; level <= depths[at]; ++level) {
        auto next = at + 1;
        while (next < depths.size() && depths[next] > level) ++next;
        const bool goes_on = next < depths.size() && depths[next] == level;
        if (level == depths[at])
            text += goes_on ? "├─ " : "└─ ";
        else
            text += goes_on ? "│  " : "   ";
    }
    return text;
}

/// The text of a clash, of which what is deeper than `deepest` is told in short: the lines above
/// name the packages that lead on and those where they meet, and those stand at the end.
class Folded {
public:
    Folded(const std::vector<Line>& lines, int deepest) {
        std::vector<int> depths;
        for (std::size_t i = 0; i < lines.size();) {
            const auto& line = lines[i];
            auto next = i + 1;
            while (next < lines.size() && lines[next].depth > deepest) ++next;
            auto text = line.text() +
                        way_on(line, {lines.begin() + offset(i) + 1, lines.begin() + offset(next)});
            if (line.kind == Kind::Offer && line.askers == 2) {
                if (const auto both = both_asked(lines, line); !both.empty()) text += " " + both;
            }
            texts_.push_back(std::move(text));
            depths.push_back(line.depth);
            i = next;
        }
        for (std::size_t i = 0; i < texts_.size(); ++i)
            texts_[i].insert(0, branch_before(depths, i));
        if (!unmet_.empty())
            ends_.insert(ends_.begin(),
                         fmt::format("no {} satisfies all of these", join_or(unmet_)));
        for (auto& end : ends_) texts_.push_back(std::move(end));
    }

    std::size_t size() const { return texts_.size(); }
    std::vector<std::string> take() && { return std::move(texts_); }

private:
    static std::ptrdiff_t offset(std::size_t i) { return static_cast<std::ptrdiff_t>(i); }

    /// What `hidden`, all that follows from `line`, comes to.
    std::string way_on(const Line& line, std::span<const Line> hidden) {
        const auto& start = line.kind == Kind::Request ? line.name : line.target;
        std::vector<std::string> by_way_of;
        std::set<std::string_view> leading;  // the same
        std::vector<std::string> goals;
        for (const auto& one : hidden) {
            if (one.kind != Kind::Asks) {
                end(one);
            } else if (one.name != start && leading.insert(one.name).second) {
                by_way_of.push_back(one.name);
            }
        }
        for (const auto& one : hidden) {
            if (one.kind == Kind::Asks && !leading.contains(one.target)) add_new(goals, one.target);
        }
        if (goals.empty()) return {};
        return fmt::format(", which leads{}{} to {}",
                           by_way_of.empty() ? "" : " through ",
                           join_some(by_way_of, "and", 5),
                           join_some(goals, "and", 5));
    }

    void end(const Line& line) {
        if (line.kind == Kind::Offer && line.askers > 1) {
            add_new(unmet_, line.name);
        } else {
            add_new(ends_, line.text());
        }
    }

    std::vector<std::string> texts_;
    std::vector<std::string> unmet_;  ///< names that several ask for
    std::vector<std::string> ends_;
};

/// As deep as a short tree can be.
std::vector<std::string> tree_of(const std::vector<Line>& lines) {
    if (lines.empty()) return {};
    // Each line that is told in its place is one: deeper than this they are too many.
    std::vector<int> depths;
    depths.reserve(lines.size());
    for (const auto& line : lines) depths.push_back(line.depth);
    std::sort(depths.begin(), depths.end());
    int deepest = lines.size() <= kShortTree ? depths.back() : depths[kShortTree] - 1;
    for (;; --deepest) {
        Folded folded(lines, deepest);
        if (deepest <= 0 || folded.size() <= kShortTree) return std::move(folded).take();
    }
}

}  // namespace

std::string machine_fact(std::string_view machine,
                         std::string_view name,
                         const PackageRecord* there) {
    if (there == nullptr) {
        const auto what = name == "__cuda"        ? std::string("no NVIDIA driver (__cuda)")
                          : name == "__cuda_arch" ? std::string("no NVIDIA GPU (__cuda_arch)")
                                                  : fmt::format("no {}", name);
        return fmt::format("{} has {}", machine, what);
    }
    const auto value = value_told(*there);
    const auto what = name == "__cuda"       ? fmt::format("a driver for CUDA {} (__cuda)", value)
                      : name == "__glibc"    ? fmt::format("glibc {} (__glibc)", value)
                      : name == "__archspec" ? fmt::format("a CPU of type {} (__archspec)", value)
                                             : fmt::format("{} {}", name, value);
    return fmt::format(
        "{} {} {}", machine, is_assumed(*there) ? "is assumed to have" : "has", what);
}

std::string ExplanationLine::text() const {
    const auto first = specs.empty() ? name : specs.front();
    switch (kind) {
    case Kind::Request:
        if (askers == 0)
            return fmt::format("{} {}", first, reason.empty() ? "is requested" : reason);
        return offer_text(*this, first);
    case Kind::Pin: return fmt::format("{} {}", first, reason);
    case Kind::Asks:
        return fmt::format(
            "{} {} {}", subject(*this), verb(*this, builds.count == 1), join_some(asks, "or"));
    case Kind::Machine: return machine_fact(machine, name, given ? &*given : nullptr);
    case Kind::Present:
        return fmt::format("{} {} would be installed", name, versions_text(versions));
    case Kind::Offer: return offer_text(*this, "");
    }
    return {};
}

std::string Explanation::tree() const {
    std::vector<std::string> texts;
    for (const auto& clash : clashes) {
        for (auto& text : tree_of(clash.lines)) texts.push_back(std::move(text));
        if (!clash.is_minimal)
            texts.emplace_back(
                "(not minimal: the search for a smaller conflict reached its limit)");
    }
    if (!more.empty())
        texts.push_back(fmt::format("and {} more requested {} no build: {}",
                                    more.size(),
                                    more.size() == 1 ? "spec matches" : "specs match",
                                    join_some(more, "and", kMostNames)));
    return fmt::format("{}", fmt::join(texts, "\n"));
}

std::string ProblemChange::text() const {
    switch (kind) {
    case Kind::ReplaceSpec: return fmt::format("{} instead of {}", spec, before);
    case Kind::DropSpec: return fmt::format("without {}", before);
    case Kind::DropConstraint:
        return name.empty() ? fmt::format("without the pin {}", before)
                            : fmt::format("also requesting {}", name);
    case Kind::SetPriority: return "flexible channel priority";
    case Kind::AllowNewer: return "no --exclude-newer limit";
    case Kind::SetMachine: return machine_needed(*this);
    case Kind::LetChange: return "also requesting " + spec;
    case Kind::SetAccelerator: return name + "[accel=auto]";
    }
    return {};
}

std::string Fix::gives_text() const {
    std::vector<std::string> items;
    for (const auto& package : gives)
        items.push_back(
            fmt::format("{} {}{}{}",
                        package.name,
                        package.version,
                        package.channel.empty() ? "" : " from " + package.channel,
                        package.remark.empty() ? "" : fmt::format(" ({})", package.remark)));
    return items.empty() ? "" : "gives " + join_some(items, "and", 4);
}

std::string Fix::text() const {
    std::vector<std::string> items;
    for (const auto& change : changes) items.push_back(change.text());
    const auto what = gives_text();
    return join_some(items, "and", items.size()) + (what.empty() ? "" : ": " + what);
}

std::string Explanation::to_string() const {
    auto text = tree();
    for (const auto& fix : fixes) text += "\nfix: " + fix.text();
    return text;
}

}  // namespace gpkg
