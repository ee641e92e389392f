#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/options.hpp"
#include "cli/table.hpp"
#include "cli/usage.hpp"
#include "cli/workflow/ask/found.hpp"
#include "cli/workflow/record_text.hpp"
#include "cli/workflow/settings.hpp"
#include "cli/workflow/wishes/wishes.hpp"
#include "libcore/manifest/spec_file.hpp"
#include "libcore/spec/record_version.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <nlohmann/json.hpp>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;

struct SolveOptions {
    SourceOptions sources;
    ReachOptions reach;
    WishOptions wishes;
    bool explicit_urls = false;
    bool dry_run = false;  ///< always
};

/// "__cuda=12.4=0"
std::string text_of(const PackageRecord& virtual_package) {
    return fmt::format(
        "{}={}={}", virtual_package.name, virtual_package.version, virtual_package.build);
}

std::vector<std::string> texts_of(const std::vector<PackageRecord>& virtual_packages) {
    std::vector<std::string> texts(virtual_packages.size());
    std::transform(virtual_packages.begin(), virtual_packages.end(), texts.begin(), text_of);
    std::sort(texts.begin(), texts.end());
    return texts;
}

Json json_of(const Change& answer) {
    Json document{{"success", true}, {"platform", answer.platform}};
    document["virtual_packages"] = texts_of(answer.virtual_packages);
    document["packages"] = Json::array();
    for (const auto& record : answer.link) document["packages"].push_back(record_json(record));
    if (!answer.notes.empty()) document["notes"] = texts_of(answer.notes);
    return document;
}

void print(Output& out, const Change& answer) {
    auto records = answer.link;
    std::sort(records.begin(), records.end(), [](const auto& a, const auto& b) {
        return a.name < b.name;
    });
    Table table({4});
    shorten_record_columns(table);
    table.add({"# Name", "Version", "Build", "Channel", "Size"});
    std::vector<std::string> machine;
    machine.reserve(answer.virtual_packages.size());
    for (const auto& record : answer.virtual_packages)
        machine.push_back(text_of(record) + std::string(assumed_mark(record)));
    std::sort(machine.begin(), machine.end());
    std::uint64_t bytes = 0;
    for (const auto& record : records) {
        table.add({record.name,
                   record.version,
                   record.build,
                   short_channel(record.channel),
                   record.size == 0 ? "" : human_size(record.size)});
        bytes += record.size;
    }
    out.result(table);
    out.note(fmt::format("{} package{}{} for {} with {}",
                         records.size(),
                         records.size() == 1 ? "" : "s",
                         bytes == 0 ? "" : fmt::format(" ({} to download)", human_size(bytes)),
                         answer.platform,
                         fmt::join(machine, ", ")));
}

Result<int> solve(Context& context, const CLI::App& app, SolveOptions& options) {
    GPKG_TRY(auto wishes, read_wishes(context, options.wishes, options.sources));
    if (!wishes.files.empty())
        return fail(ErrorKind::Usage, "package files cannot be solved; give specs instead");
    if (wishes.specs.empty()) return missing_argument(app, "SPEC");
    auto request = change_request(std::move(wishes));
    GPKG_CHECK(heed_usual_accelerator(context, request.accelerators));
    request.reach = options.reach;
    for (const auto& section : request.pip)
        context.out.note(
            fmt::format("note: {}: packages under 'pip:' are not solved", section.file.native()));
    GPKG_TRY(const auto answer, decide(context, options.sources, request));
    for (const auto& note : answer.notes) context.out.tell(note);
    if (context.out.json_mode()) {
        context.out.json(json_of(answer));
    } else if (options.explicit_urls) {
        auto text = explicit_file(answer.link, answer.platform);
        text.pop_back();  // verbatim() ends the line
        context.out.verbatim(text);
    } else {
        print(context.out, answer);
    }
    return 0;
}

}  // namespace

Action bind_solve(CLI::App& app) {
    const auto options = std::make_shared<SolveOptions>();
    add_source_options(app, options->sources);
    add_reach_options(app, options->reach, ReachVerb::Create);
    add_wish_options(app, options->wishes);
    app.add_flag("--explicit",
                 options->explicit_urls,
                 "print a file of URLs and checksums for create --file");
    app.add_flag("-d,--dry-run", options->dry_run, "ignored: solve changes nothing")->group("");
    app.footer(
        "Shows the packages that `gpkg create` would install. Changes no environment.\n\n"
        "  gpkg solve torch 'python=3.12'\n"
        "  gpkg solve -f environment.yml --platform linux-aarch64 --explicit > arm.txt");

    return [options, &app](Context& context) { return solve(context, app, *options); };
}

}  // namespace gpkg::cli
