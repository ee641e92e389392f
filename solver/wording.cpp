#include "solver/wording.hpp"

#include "libcore/base/percent.hpp"
#include "libcore/base/text.hpp"
#include "libcore/spec/spec_text.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpkg::solver {

namespace {

/// The parts of an `and` in an `and`, of an `or` in an `or`, as one list.
void flatten(const Conditions& conditions,
             ConditionId id,
             ConditionNode::Kind kind,
             std::vector<ConditionId>& into) {
    if (conditions[id].kind != kind) {
        into.push_back(id);
        return;
    }
    flatten(conditions, conditions[id].left, kind, into);
    flatten(conditions, conditions[id].right, kind, into);
}

std::string expression(const Universe& universe, ConditionId id, bool in_and) {
    const auto& node = universe.conditions()[id];
    using Part = ConditionNode::Kind;
    if (node.kind == Part::Leaf) return written(universe.specs()[node.spec].match);
    if (node.kind == Part::Extra) return "its extra " + node.group;
    std::vector<ConditionId> parts;
    flatten(universe.conditions(), id, node.kind, parts);
    std::vector<std::string> texts;
    texts.reserve(parts.size());
    for (const auto part : parts)
        texts.push_back(expression(universe, part, node.kind == Part::And));
    // Numbers depend on the order of records.
    std::sort(texts.begin(), texts.end());
    const auto text = join_some(texts, node.kind == Part::And ? "and" : "or", texts.size());
    return in_and ? "(" + text + ")" : text;
}

}  // namespace

std::string condition_text(const Universe& universe, ConditionId condition) {
    using Part = ConditionNode::Kind;
    const auto& conditions = universe.conditions();
    std::vector<ConditionId> parts;
    flatten(conditions, condition, Part::And, parts);
    std::vector<std::string> extras;
    std::vector<std::string> rest;
    for (const auto part : parts) {
        const bool is_extra = conditions[part].kind == Part::Extra;
        (is_extra ? extras : rest)
            .push_back(is_extra ? conditions[part].group
                                : expression(universe, part, parts.size() > 1));
    }
    std::sort(rest.begin(), rest.end());
    std::string text;
    if (!extras.empty()) text = "for its extra " + extras.front();
    if (!extras.empty() && !rest.empty()) text += ", ";
    if (!rest.empty())
        text += fmt::format("if {} {} installed",
                            join_some(rest, "and", rest.size()),
                            rest.size() == 1 ? "is" : "are");
    return text;
}

std::string channel_text(const Problem& problem, const std::string& base_url) {
    const auto is_unique = [&](const std::string& text) {
        return std::all_of(problem.indexes.begin(), problem.indexes.end(), [&](const auto& index) {
            return index->source().channel == base_url ||
                   !channel_matches(text, index->source().channel);
        });
    };
    for (auto slash = base_url.rfind('/'); slash != std::string::npos && slash > 0;
         slash = base_url.rfind('/', slash - 1)) {
        auto text = base_url.substr(slash + 1);
        if (text.starts_with('/')) break;
        if (!text.empty() && channel_matches(text, base_url) && is_unique(text)) return text;
    }
    return base_url;
}

std::string channel_title(const Problem& problem, const std::string& base_url) {
    return base_url.starts_with("file:") ? path_or_url(base_url) : channel_text(problem, base_url);
}

std::vector<std::string> channel_titles(const Problem& problem) {
    std::vector<std::string> titles;
    for (const auto& index : problem.indexes) {
        auto title = channel_title(problem, index->source().channel);
        if (std::ranges::find(titles, title) == titles.end()) titles.push_back(std::move(title));
    }
    return titles;
}

std::string trait_of(LeftOut::Why why, const PackageRecord& record) {
    if (why == LeftOut::Why::OtherBlas) return kind_of(record)[0];
    if (why == LeftOut::Why::OtherMpi) return kind_of(record)[1];
    return std::string(to_string(accelerator_of(record).accelerator));
}

namespace {

/// The same for messages, and of a channel: "a CUDA build", "with mkl", "from conda-forge".
std::string trait_text(const Problem& problem, LeftOut::Why why, const PackageRecord& record) {
    if (why == LeftOut::Why::OtherChannel) return "from " + channel_title(problem, record.channel);
    if (why != LeftOut::Why::OtherAccelerator) return "with " + trait_of(why, record);
    return fmt::format("a {} build", compute_platform(accelerator_of(record).accelerator));
}

}  // namespace

std::string as_before(const Problem& problem) {
    const auto& of_what = problem.request.of_what;
    return of_what.empty() ? "as installed" : "as in " + of_what;
}

std::string for_another_machine(const Problem& problem, Accelerator vendor) {
    const bool has_gpu =
        vendor == Accelerator::None || has_vendor(problem.virtual_packages, vendor);
    return has_gpu || problem.machine != kThisMachine
               ? ""
               : "; use --for to name the machine it will run on";
}

std::string how_to_see_why(const Problem& problem, const std::string& spec) {
    const auto& request = problem.request;
    if (!request.of_what.empty()) return "";
    const auto command = problem.why_not_command
                             ? problem.why_not_command(spec, request)
                             : fmt::format("gpkg why-not {} with the same {}",
                                           spec,
                                           request.installed.empty() ? "request" : "environment");
    return fmt::format(" (to see why: {})", command);
}

std::string requested_build(const Universe& universe, NameId name) {
    const auto wanted = universe.preferred_accelerator(name);
    return fmt::format("{} build", compute_platform(wanted.value_or(Accelerator::None)));
}

std::string what_stays(const Universe& universe, NameId name, const LeftOut& out) {
    const auto& problem = universe.problem();
    const auto former = universe.former(name);
    if (!former) return "";
    const auto& of_what = problem.request.of_what;
    const auto subject = former->is_gone   ? std::string("the removed one was")
                         : of_what.empty() ? std::string("the installed one is")
                                           : fmt::format("the one in {} is", of_what);
    return fmt::format("{} {}", subject, trait_text(problem, out.why, former->record));
}

std::string left_out_text(const Universe& universe, NameId name, const LeftOut& out) {
    const auto& problem = universe.problem();
    switch (out.why) {
    case LeftOut::Why::Hidden:
        return fmt::format("in {}, hidden by strict channel priority",
                           channel_title(problem, out.record.channel()));
    case LeftOut::Why::Newer: return "newer than --exclude-newer allows";
    case LeftOut::Why::Accelerator: return "not a " + requested_build(universe, name);
    default: break;
    }
    const auto record = out.record.record();
    if (!record || out.why == LeftOut::Why::Unreadable) return "invalid version or dependency";
    return fmt::format(
        "{}, but {}", trait_text(problem, out.why, *record), what_stays(universe, name, out));
}

std::string spec_allowing(const Universe& universe, NameId name, const LeftOut& out) {
    const auto& text = universe.names()[name].text;
    if (out.why == LeftOut::Why::OtherChannel)
        return fmt::format("{}::{}", channel_text(universe.problem(), out.record.channel()), text);
    const auto trait = [](const LeftOut& one) {
        const auto record = one.record.record();
        return record ? trait_of(one.why, *record) : "";
    };
    const auto own = trait(out);
    if (out.why == LeftOut::Why::OtherAccelerator) return fmt::format("{}[accel={}]", text, own);
    // What stands for a BLAS or an MPI says it in its build, and all others go with it.
    for (const auto* interface : {"libblas", "blas", "mpi"}) {
        const auto id = universe.find_name(interface);
        if (!id) continue;
        for (const auto& other : universe.names()[*id].left_out) {
            if (other.why != out.why) continue;
            const auto kind = trait(other);
            if (kind == own || own == "generic")
                return fmt::format("{}[build=*{}]", interface, kind);
        }
    }
    return fmt::format("{}[build=*{}*]", text, own);
}

}  // namespace gpkg::solver
