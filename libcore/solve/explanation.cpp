#include "libcore/solve/explanation.hpp"

#include "libcore/base/text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <regex>

namespace gpkg {
namespace {

using Line = ExplanationLine;
using Kind = ExplanationLine::Kind;

std::string subject(const Line& line) {
    const auto& builds = line.builds;
    if (builds.count == 1 && !builds.build.empty())
        return fmt::format("{} {} {}", line.name, builds.lowest, builds.build);
    auto text = builds.count < builds.of ? fmt::format("{} of {}", builds.count, builds.of)
                : builds.of == 2         ? std::string("both")
                                         : fmt::format("all {}", builds.of);
    text += fmt::format(" builds of {} {}", line.name, builds.lowest);
    if (builds.lowest != builds.highest) text += " to " + builds.highest;
    return text;
}

std::string_view verb(const Line& line, bool one) {
    if (!line.some_restrict) return one ? "needs" : "need";
    if (!line.some_need) return one ? "goes only with" : "go only with";
    return one ? "needs or goes only with" : "need or go only with";
}

/// What people call the thing that a virtual package stands for.
std::string machine_text(const Line& line) {
    const auto has = [&](std::string_view what) {
        return fmt::format("{} has {}", line.machine, what);
    };
    const auto& name = line.name;
    if (line.versions.empty()) {
        if (name == "__cuda") return has("no NVIDIA driver (__cuda)");
        if (name == "__cuda_arch") return has("no NVIDIA GPU (__cuda_arch)");
        return has("no " + name);
    }
    const auto& version = line.versions.front();
    if (name == "__cuda") return has(fmt::format("a driver for CUDA {} (__cuda)", version));
    if (name == "__glibc") return has(fmt::format("glibc {} (__glibc)", version));
    if (name == "__archspec") return has(fmt::format("a CPU of type {} (__archspec)", version));
    return has(fmt::format("{} {}", name, version));
}

std::string versions_text(const std::vector<std::string>& versions) {
    constexpr std::size_t kFew = 4;
    if (versions.size() <= kFew) return join_some(versions, "and", kFew);
    return fmt::format(
        "{} to {} ({} versions)", versions.back(), versions.front(), versions.size());
}

/// "cuda126*" of cuda126_py312h1763f6d_306: what tells builds apart is what is chosen by hand; the
/// rest is python's version, a hash and a number.
std::string variant(const std::string& build) {
    static const std::regex rest(
        "(^|_)(py[0-9]+h|py[0-9]+_|py_?[0-9]|np[0-9]|h[0-9a-f]{7}|[0-9]+$).*");
    auto text = std::regex_replace(build, rest, "");
    return text.empty() || text == build ? build : text + "*";
}

std::string builds_text(const std::vector<std::string>& builds) {
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
    for (const auto& out : line.left_out)
        items.push_back(fmt::format("{} {}", versions_text(out.versions), out.why));
    return fmt::format("{}", fmt::join(items, ", "));
}

/// What there is in place of what is asked for.
std::string offer_text(const Line& line) {
    if (line.askers > 1)
        return fmt::format("no {} meets {}",
                           line.name,
                           line.askers == 2 ? "both" : fmt::format("all {}", line.askers));
    if (!line.channels.empty())
        return fmt::format("no package of this name in {} ({})",
                           join_some(line.channels, "or"),
                           join_some(line.subdirs, "and"));
    const auto rest = left_out_text(line);
    const auto with_rest = [&](std::string text) {
        return rest.empty() ? text : fmt::format("{}; not usable: {}", text, rest);
    };
    if (!line.other_builds.empty())
        return with_rest(fmt::format("no such build; of {} {} there is {}",
                                     line.name,
                                     versions_text(line.versions),
                                     builds_text(line.other_builds)));
    if (!line.versions.empty())
        return with_rest("no such version; there is " + versions_text(line.versions));
    return "none can be used: " + rest;
}

std::string machine_needed(const ProblemChange& change) {
    if (change.name == "__cuda" && change.is_any_version) return "an NVIDIA driver";
    if (change.name == "__cuda") return "a driver for CUDA >= " + change.version;
    if (change.name == "__cuda_arch") return "a GPU of compute capability >= " + change.version;
    if (change.name == "__archspec") return "a CPU of type " + change.build;
    return fmt::format("{} >= {}", change.name.substr(2), change.version);
}

/// So many lines are a short tree: with three fixes and two headings, 15.
constexpr std::size_t kShortTree = 10;

/// Whether `next` is all that follows from `line`, and is about whatever `line` asks for.
bool goes_on(const std::vector<Line>& lines, std::size_t next) {
    const auto& line = lines[next - 1];
    const auto& then = lines[next];
    const bool is_only = std::none_of(
        lines.begin() + static_cast<std::ptrdiff_t>(next) + 1, lines.end(), [&](const Line& other) {
            return other.kind == Kind::Asks && other.name == then.name;
        });
    return line.kind == Kind::Asks && then.kind == Kind::Asks && then.depth == line.depth + 1 &&
           then.name == line.target && then.builds.count == then.builds.of && is_only;
}

/// The indented text of a clash. In a long one, links of a chain that nothing else follows from
/// share a line: "all 3 builds of a 1.0 need b >=2, which needs c 3.*".
std::vector<std::string> tree_of(const std::vector<Line>& lines, bool is_long) {
    std::vector<std::string> texts;
    std::vector<int> folded;  // by depth of the line: how many above it share a line with another
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const auto& line = lines[i];
        const auto depth = static_cast<std::size_t>(line.depth);
        folded.resize(depth + 1);
        folded[depth] = depth == 0 ? 0 : folded[depth - 1];
        if (is_long && i > 0 && goes_on(lines, i)) {
            texts.back() +=
                fmt::format(", which {} {}", verb(line, true), join_some(line.asks, "or"));
            ++folded[depth];
            continue;
        }
        const auto indent = line.depth - folded[depth];
        texts.push_back(indent == 0 ? line.text()
                                    : std::string(static_cast<std::size_t>(indent - 1) * 3, ' ') +
                                          "└─ " + line.text());
    }
    return texts;
}

}  // namespace

std::string ExplanationLine::text() const {
    const auto first = specs.empty() ? name : specs.front();
    switch (kind) {
    case Kind::Request:
        if (askers == 0)
            return fmt::format("{} {}", first, reason.empty() ? "is asked for" : reason);
        return fmt::format("{}: {}", first, offer_text(*this));
    case Kind::Pin: return fmt::format("{} {}", first, reason);
    case Kind::Asks:
        return fmt::format(
            "{} {} {}", subject(*this), verb(*this, builds.count == 1), join_some(asks, "or"));
    case Kind::Machine: return machine_text(*this);
    case Kind::Present: return fmt::format("{} {} is there", name, versions_text(versions));
    case Kind::Offer:
        return askers > 1 ? offer_text(*this) : fmt::format("{}: {}", name, offer_text(*this));
    }
    return {};
}

std::string Explanation::tree() const {
    std::size_t lines = 0;
    for (const auto& clash : clashes) lines += clash.lines.size();
    std::vector<std::string> texts;
    for (const auto& clash : clashes) {
        for (auto& text : tree_of(clash.lines, lines > kShortTree))
            texts.push_back(std::move(text));
    }
    return fmt::format("{}", fmt::join(texts, "\n"));
}

std::string ProblemChange::text() const {
    switch (kind) {
    case Kind::ReplaceSpec: return fmt::format("{} in place of {}", spec, before);
    case Kind::DropSpec: return fmt::format("without {}", before);
    case Kind::DropConstraint: return fmt::format("without the pin {}", before);
    case Kind::SetPriority: return "flexible channel priority";
    case Kind::AllowNewer: return "no limit on how new records may be";
    case Kind::SetMachine: return machine_needed(*this);
    }
    return {};
}

std::string Fix::gives_text() const {
    std::vector<std::string> items;
    for (const auto& package : gives)
        items.push_back(fmt::format("{} {}{}",
                                    package.name,
                                    package.version,
                                    package.channel.empty() ? "" : " from " + package.channel));
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
