#include "cli/workflow/ask/explanation_json.hpp"

#include "libcore/spec/record_version.hpp"

#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;
using Kind = ProblemChange::Kind;

std::string_view name_of(ExplanationLine::Kind kind) {
    switch (kind) {
    case ExplanationLine::Kind::Request: return "request";
    case ExplanationLine::Kind::Pin: return "pin";
    case ExplanationLine::Kind::Asks: return "asks";
    case ExplanationLine::Kind::Machine: return "machine";
    case ExplanationLine::Kind::Offer: return "offer";
    case ExplanationLine::Kind::Present: return "present";
    }
    return "";
}

std::string_view name_of(Kind kind) {
    switch (kind) {
    case Kind::ReplaceSpec: return "replace_spec";
    case Kind::DropSpec: return "drop_spec";
    case Kind::DropConstraint: return "drop_pin";
    case Kind::SetPriority: return "channel_priority";
    case Kind::AllowNewer: return "exclude_newer";
    case Kind::SetMachine: return "virtual_package";
    case Kind::LetChange: return "let_change";
    case Kind::SetAccelerator: return "accelerator";
    }
    return "";
}

Json json_of(const ExplanationLine& line) {
    Json document{{"kind", name_of(line.kind)},
                  {"depth", line.depth},
                  {"text", line.text()},
                  {"name", line.name},
                  {"specs", line.specs}};
    if (line.kind == ExplanationLine::Kind::Asks) {
        document["target"] = line.target;
        document["needs"] = line.some_need;
        document["constrains"] = line.some_restrict;
        document["builds"] = {{"count", line.builds.count},
                              {"of", line.builds.of},
                              {"lowest", line.builds.lowest},
                              {"highest", line.builds.highest}};
        if (!line.builds.accelerator.empty())
            document["builds"]["accelerator"] = line.builds.accelerator;
        if (!line.builds.variant.empty()) document["builds"]["variant"] = line.builds.variant;
    }
    if (line.given) document["assumed"] = is_assumed(*line.given);
    if (line.kind == ExplanationLine::Kind::Pin) document["reason"] = line.reason;
    if (line.askers > 0 || line.kind == ExplanationLine::Kind::Machine ||
        line.kind == ExplanationLine::Kind::Present) {
        document["versions"] = line.versions;
        if (!line.other_builds.empty()) document["builds"] = line.other_builds;
        if (line.other_flags) document["flags"] = *line.other_flags;
        document["left_out"] = Json::array();
        for (const auto& out : line.left_out)
            document["left_out"].push_back({{"why", out.why}, {"versions", out.versions}});
        if (!line.channels.empty()) document["channels"] = line.channels;
    }
    return document;
}

Json json_of(const ProblemChange& change) {
    Json document{{"kind", name_of(change.kind)}, {"text", change.text()}};
    if (!change.before.empty()) document["before"] = change.before;
    if (!change.spec.empty()) document["after"] = change.spec;
    if (change.kind == Kind::SetMachine) {
        document["name"] = change.name;
        document["version"] = change.version;
        document["build"] = change.build;
    }
    return document;
}

}  // namespace

Json clashes_json(const Explanation& explanation) {
    auto clashes = Json::array();
    for (const auto& clash : explanation.clashes) {
        auto lines = Json::array();
        for (const auto& line : clash.lines) lines.push_back(json_of(line));
        clashes.push_back(std::move(lines));
    }
    return clashes;
}

Json fix_json(const Fix& fix) {
    Json document;
    if (!fix.is_smallest) document["may_be_smaller"] = true;
    document["changes"] = Json::array();
    for (const auto& change : fix.changes) document["changes"].push_back(json_of(change));
    document["gives"] = Json::array();
    for (const auto& package : fix.gives) {
        document["gives"].push_back(
            {{"name", package.name}, {"version", package.version}, {"build", package.build}});
        if (!package.remark.empty()) document["gives"].back()["remark"] = package.remark;
    }
    return document;
}

}  // namespace gpkg::cli
