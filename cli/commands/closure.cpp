#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/options.hpp"
#include "cli/table.hpp"
#include "cli/workflow/ask/weighing.hpp"
#include "cli/workflow/change_report.hpp"
#include "libcore/base/byte_size.hpp"
#include "libcore/base/text.hpp"
#include "libcore/closure/page.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Lines that are shown unless all are asked for.
constexpr std::size_t kMostPackages = 25;
constexpr std::size_t kMostEdges = 8;

struct ClosureOptions {
    TargetOptions target;
    SourceOptions sources;
    WishOptions wishes;
    bool size = false;
    bool all = false;
    std::vector<std::string> without;
    std::string html;
    std::string limit;
};

/// What it would be if some of the packages were not there.
struct Trimmed {
    std::string pattern;
    std::size_t matching = 0;
    std::size_t gone = 0;  ///< packages, those that match among them
    std::uint64_t saves = 0;
};

std::string heading(const Weighed& weighed) {
    return fmt::format("{} {} in {}",
                       human_size(weighed.closure.total()),
                       weighed.measure(),
                       count_text(weighed.closure.packages().size()));
}

std::string held_text(const Closure& closure, const ClosurePackage& package) {
    if (package.is_requested) return "asked for";
    if (package.held_by) return closure.record(*package.held_by).name;
    return package.is_orphan ? "nobody" : "several requests";
}

void print_packages(Output& out, const Closure& closure, bool all) {
    Table table({2, 3, 4, 5});
    table.add({"# Package", "Version", "Size", "Unique", "Closure", "Shared", "Held by"});
    auto places = closure.heaviest();
    const auto count = places.size();
    if (!all) places.resize(std::min(count, kMostPackages));
    for (const auto place : places) {
        const auto& package = closure.packages()[place];
        table.add({closure.record(place).name,
                   closure.record(place).version,
                   package.size_is_known ? human_size(package.size) : "?",
                   human_size(package.unique),
                   human_size(package.closure),
                   human_size(package.shared()),
                   held_text(closure, package)});
    }
    for (const auto& line : table.lines()) out.result(line);
    if (places.size() < count)
        out.note(
            fmt::format("and {} more, which weigh less: --all shows them", count - places.size()));
}

void print_edges(Output& out, const Closure& closure, bool all) {
    Table table({0});
    std::size_t count = 0;
    for (const auto& edge : closure.edges()) {
        if (edge.saves == 0 || (!all && ++count > kMostEdges)) break;
        table.add(
            {human_size(edge.saves),
             fmt::format(
                 "{} needs {}", closure.record(edge.from).name, closure.record(edge.to).name)});
    }
    if (table.empty()) return;
    out.result("\nWhat one dependency alone brings:");
    for (const auto& line : table.lines()) out.result("  " + line);
}

/// For each pattern; of several then for all of them together.
Result<std::vector<Trimmed>> trimmed(const Weighed& weighed,
                                     const std::vector<std::string>& patterns) {
    const auto& closure = weighed.closure;
    const auto count = closure.packages().size();
    std::vector<bool> together(count);
    std::vector<Trimmed> found;
    const auto weigh = [&](std::string pattern, const std::vector<bool>& gone) {
        Trimmed one{std::move(pattern)};
        const auto kept = closure.without(gone);
        for (std::size_t place = 0; place < count; ++place) {
            one.matching += gone[place] ? 1 : 0;
            one.gone += kept[place] ? 0 : 1;
            one.saves += kept[place] ? 0 : closure.packages()[place].size;
        }
        found.push_back(std::move(one));
    };
    for (const auto& pattern : patterns) {
        GPKG_TRY(const auto spec, parse_spec(pattern));
        std::vector<bool> gone(count);
        for (std::size_t place = 0; place < count; ++place) {
            gone[place] = spec.matches(closure.record(place));
            together[place] = together[place] || gone[place];
        }
        if (std::find(gone.begin(), gone.end(), true) == gone.end()) {
            GPKG_CHECK(place_in(weighed, spec.name));
            return fail(
                ErrorKind::NotFound,
                fmt::format("--without {}: no package of {} is that", pattern, weighed.what));
        }
        weigh(pattern, gone);
    }
    if (patterns.size() > 1) weigh("all of these", together);
    return found;
}

void print_trimmed(Output& out, const Closure& closure, const std::vector<Trimmed>& all) {
    for (const auto& one : all)
        out.result(fmt::format("without {} ({}): {} in {}, {} less",
                               one.pattern,
                               count_text(one.matching),
                               human_size(closure.total() - one.saves),
                               count_text(closure.packages().size() - one.gone),
                               human_size(one.saves)));
}

Json json_of(const std::vector<Trimmed>& all) {
    auto array = Json::array();
    for (const auto& one : all)
        array.push_back({{"pattern", one.pattern},
                         {"matching", one.matching},
                         {"gone", one.gone},
                         {"saves", one.saves}});
    return array;
}

Json json_of(const Weighed& weighed, bool whole) {
    const auto& closure = weighed.closure;
    Json document{{"success", true},
                  {"of", weighed.what},
                  {"sizes", weighed.is_installed ? "disk" : "download"},
                  {"total", closure.total()},
                  {"downloads", weighed.is_installed ? weighed.downloads : closure.total()},
                  {"unknown_sizes", closure.unknown_sizes()}};
    if (!whole) return document;
    document["packages"] = Json::array();
    for (const auto place : closure.heaviest()) {
        const auto& package = closure.packages()[place];
        const auto& record = closure.record(place);
        document["packages"].push_back(
            {{"name", record.name},
             {"version", record.version},
             {"build", record.build},
             {"channel", short_channel(record.channel)},
             {"size", package.size_is_known ? Json(package.size) : Json()},
             {"unique", package.unique},
             {"closure", package.closure},
             {"shared", package.shared()},
             {"requested", package.is_requested},
             {"orphan", package.is_orphan},
             {"held_by", package.held_by ? Json(closure.record(*package.held_by).name) : Json()}});
    }
    document["edges"] = Json::array();
    for (const auto& edge : closure.edges())
        document["edges"].push_back({{"from", closure.record(edge.from).name},
                                     {"to", closure.record(edge.to).name},
                                     {"specs", edge.specs},
                                     {"saves", edge.saves}});
    return document;
}

/// Nothing but such a page is written over.
Result<void> check_overwritten(const fs::path& path) {
    std::error_code code;
    if (!fs::exists(path, code)) return {};
    std::string beginning(100, '\0');
    std::ifstream file(path, std::ios::binary);
    file.read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
    if (fs::is_regular_file(path, code) && is_closure_page(beginning)) return {};
    return fail(ErrorKind::Conflict,
                fmt::format("{}: exists and is no page of gpkg closure", path.native()),
                "name another file, or remove it");
}

Result<Weighed> weigh(Context& context, const ClosureOptions& options) {
    const bool has_wishes = !options.wishes.specs.empty() || !options.wishes.files.empty();
    const bool has_target = !options.target.name.empty() || !options.target.prefix.empty();
    if (has_wishes && has_target)
        return fail(ErrorKind::Usage,
                    "specs and an environment are both named, and one thing can be weighed",
                    "leave out either");
    if (has_wishes) return weigh_request(context, options.wishes, options.sources);
    const auto& sources = options.sources;
    if (!sources.channels.empty() || !sources.platform.empty() || !sources.for_machine.empty() ||
        options.wishes.accelerator)
        return fail(ErrorKind::Usage,
                    "an environment is what it is: flags for solving were given, and no spec",
                    "name what to solve for, e.g. gpkg closure torch --for h100");
    return weigh_environment(context, options.target);
}

void print(Output& out,
           const Weighed& weighed,
           const std::vector<Trimmed>& without,
           const ClosureOptions& options) {
    const auto& closure = weighed.closure;
    out.result(out.bold(fmt::format("{}: {}", weighed.what, heading(weighed))));
    if (!options.size) {
        print_packages(out, closure, options.all);
        print_edges(out, closure, options.all);
        if (!without.empty()) out.result("");
    }
    print_trimmed(out, closure, without);
    if (closure.unknown_sizes() > 0)
        out.warn(fmt::format("of {} the channel tells no size: sums are too small",
                             count_text(closure.unknown_sizes())));
    if (weighed.is_installed && weighed.downloads > 0)
        out.note(fmt::format("sizes are of files in the environment; to download it was {}",
                             human_size(weighed.downloads)));
    if (!weighed.is_installed)
        out.note("sizes are of the archives to download; unpacked they are larger");
}

Result<int> show(Context& context, const ClosureOptions& options) {
    std::uint64_t limit = 0;
    if (!options.limit.empty()) {
        auto parsed = parse_byte_size(options.limit);
        if (!parsed) return pass(std::move(parsed).error().while_doing("--max-closure"));
        limit = *parsed;
    }
    const auto page = absolute_path(options.html, context.home);
    if (!options.html.empty()) GPKG_CHECK(check_overwritten(page));
    GPKG_TRY(const auto weighed, weigh(context, options));
    GPKG_TRY(const auto without, trimmed(weighed, options.without));
    const auto over = limit == 0 ? std::nullopt : over_limit(weighed, limit);

    if (!options.html.empty()) {
        auto written = write_file_atomically(
            page, closure_page(weighed.closure, {weighed.what, weighed.measure(), human_size}));
        if (!written) return pass(std::move(written).error().while_doing("writing the page"));
    }
    if (context.out.json_mode()) {
        auto document = json_of(weighed, !options.size);
        if (!without.empty()) document["without"] = json_of(without);
        if (!options.html.empty()) document["html"] = page.native();
        if (limit != 0) document["max_closure"] = limit;
        if (over) {
            document["success"] = false;
            document["error"] = over->message;
            if (!over->hint.empty()) document["hint"] = over->hint;
        }
        context.out.json(document);
        return over ? 1 : 0;
    }
    print(context.out, weighed, without, options);
    if (!options.html.empty())
        context.out.note(fmt::format("wrote {}, which any browser opens", page.native()));
    if (over) context.out.error(*over);
    return over ? 1 : 0;
}

}  // namespace

Action bind_closure(CLI::App& app) {
    const auto options = std::make_shared<ClosureOptions>();
    add_target_options(app, options->target);
    add_source_options(app, options->sources);
    add_wish_options(app, options->wishes);
    app.add_flag("--size", options->size, "the sum alone");
    app.add_flag("--all", options->all, "every package, not only the heaviest");
    app.add_option("--without",
                   options->without,
                   "also what it would be if these packages were not there; may be repeated")
        ->type_name("SPEC")
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false);
    app.add_option("--html", options->html, "also write a page with a map of it, for any browser")
        ->type_name("FILE");
    app.add_option("--max-closure", options->limit, "exit status 1 where it is more than this: 3GB")
        ->type_name("SIZE")
        ->check(not_empty("names no size"));
    app.footer(
        "Shows what an environment (-n, -p, else the active one), or the answer to a request, "
        "weighs, and why:\n"
        "  Size     the package's own bytes: on disk of an environment, else to download\n"
        "  Unique   with all that would go if nothing needed it\n"
        "  Closure  with all that it leads to\n"
        "  Shared   what it leads to and others do too\n"
        "  Held by  what every way to it leads through\n"
        "  gpkg closure -n ml\n"
        "  gpkg closure torch 'cuda-version=12.*' --for h100 --html torch.html\n"
        "  gpkg closure torch --without 'libopencv*' --without 'libav*'\n"
        "  gpkg closure -f environment.yml --max-closure 3GB");

    return [options](Context& context) { return show(context, *options); };
}

}  // namespace gpkg::cli
