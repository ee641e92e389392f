#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/options.hpp"
#include "cli/table.hpp"
#include "cli/usage.hpp"
#include "cli/workflow/ask/closure_json.hpp"
#include "cli/workflow/ask/weighing.hpp"
#include "cli/workflow/record_text.hpp"
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

/// The closure without some of its packages.
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
                       count_text(weighed.closure.packages().size(), "package"));
}

std::string held_text(const Closure& closure, const ClosurePackage& package) {
    if (package.is_requested) return "requested";
    if (package.held_by) return closure.record(*package.held_by).name;
    return package.is_orphan ? "nothing" : "several packages";
}

void print_packages(Output& out, const Closure& closure, bool all) {
    Table table({2, 3, 4, 5});
    table.may_drop(5);
    table.may_drop(4);
    table.may_shorten(1, 8);
    table.may_shorten(6, 13);
    table.may_shorten(0, 16);
    table.add({"# Package", "Version", "Size", "Unique", "With deps", "Shared", "Brought in by"});
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
    out.result(table);
    out.note(
        "Unique: saved without the package. With deps: with all dependencies. Shared: the part "
        "that others need too.");
    if (places.size() < count)
        out.note(fmt::format("{} smaller {} not shown; use --all",
                             count - places.size(),
                             count - places.size() == 1 ? "package is" : "packages are"));
}

void print_edges(Output& out, const Closure& closure, bool all) {
    Table table({1});
    table.may_wrap(2);
    std::size_t count = 0;
    for (const auto& edge : closure.edges()) {
        if (edge.saves == 0 || (!all && ++count > kMostEdges)) break;
        table.add(
            {"",
             human_size(edge.saves),
             fmt::format(
                 "{} needs {}", closure.record(edge.from).name, closure.record(edge.to).name)});
    }
    if (table.empty()) return;
    out.result("\nSaved by dropping a single dependency:");
    out.result(table);
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
                fmt::format("--without {}: no package in {} matches", pattern, weighed.what));
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
                               count_text(one.matching, "package"),
                               human_size(closure.total() - one.saves),
                               count_text(closure.packages().size() - one.gone, "package"),
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
        const auto& held_by = closure.packages()[place].held_by;
        auto package = package_json(closure, place);
        package["channel"] = short_channel(closure.record(place).channel);
        package["held_by"] = held_by ? Json(closure.record(*held_by).name) : Json();
        document["packages"].push_back(std::move(package));
    }
    document["edges"] = Json::array();
    for (const auto& edge : closure.edges()) document["edges"].push_back(edge_json(closure, edge));
    return document;
}

Result<void> check_overwritten(const fs::path& path) {
    return check_replaceable(path, "a page written by gpkg closure", [](const fs::path& file) {
        std::string beginning(100, '\0');
        std::ifstream(file, std::ios::binary)
            .read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
        return is_closure_page(beginning);
    });
}

Result<Weighed> weigh(Context& context, const ClosureOptions& options) {
    const bool has_wishes = !options.wishes.specs.empty() || !options.wishes.files.empty();
    const bool has_target = !options.target.name.empty() || !options.target.prefix.empty();
    if (has_wishes && has_target)
        return fail(ErrorKind::Usage,
                    "specs cannot be combined with -n or -p",
                    "leave out the specs or the environment");
    if (has_wishes) return weigh_request(context, options.wishes, options.sources);
    const auto& sources = options.sources;
    if (!sources.channels.empty() || !sources.platform.empty() || !sources.for_machine.empty() ||
        options.wishes.accelerator)
        return fail(ErrorKind::Usage,
                    "-c, --platform, --for and --accel need a spec to solve",
                    "for example: gpkg closure pytorch --for h100");
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
        out.warn(fmt::format("the channel has no size for {}; the totals are too low",
                             count_text(closure.unknown_sizes(), "package")));
    if (weighed.is_installed && weighed.downloads > 0)
        out.note(fmt::format("sizes are disk usage; the download size was {}",
                             human_size(weighed.downloads)));
    if (!weighed.is_installed) out.note("sizes are download sizes; unpacked packages are larger");
}

/// "; what brings in codec: gpkg closure why codec -n ml"
std::string hint_for_largest(const Weighed& weighed, const ClosureOptions& options) {
    const auto& closure = weighed.closure;
    const auto heaviest = closure.heaviest();
    const auto largest = std::ranges::find_if(
        heaviest, [&](const auto place) { return !closure.packages()[place].is_requested; });
    if (largest == heaviest.end()) return "";
    const auto& name = closure.record(*largest).name;
    std::vector<std::string> words{"gpkg", "closure", "why", name};
    const auto add = [&](const std::string& flag, const std::string& value) {
        if (!value.empty()) append(words, {flag, value});
    };
    for (const auto& spec : options.wishes.specs) add("--spec", spec);
    for (const auto& file : options.wishes.files) add("-f", file);
    add("--for", options.sources.for_machine);
    add("-n", options.target.name);
    add("-p", options.target.prefix);
    return fmt::format("; what brings in {}: {}", name, shell_words(words));
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
    auto over = limit == 0 ? std::nullopt : over_limit(weighed, limit);
    if (over && over->kind == ErrorKind::Conflict) over->hint += hint_for_largest(weighed, options);

    if (!options.html.empty()) {
        auto written = write_file_atomically(
            page, closure_page(weighed.closure, {weighed.what, weighed.measure(), human_size}));
        if (!written) return pass(std::move(written).error().while_doing("--html"));
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
        context.out.note(fmt::format("wrote {}; open it in a browser", page.native()));
    if (over) context.out.error(*over);
    return over ? 1 : 0;
}

}  // namespace

Action bind_closure(CLI::App& app) {
    const auto options = std::make_shared<ClosureOptions>();
    add_target_options(app, options->target);
    add_source_options(app, options->sources);
    add_wish_options(app, options->wishes);
    app.add_flag("--size", options->size, "print only the total");
    app.add_flag("--all", options->all, "list every package, not only the largest");
    app.add_option("--without",
                   options->without,
                   "also print the total without these packages; may be repeated")
        ->type_name("SPEC")
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false);
    app.add_option("--html", options->html, "also write an HTML page with a map of the sizes")
        ->type_name("FILE");
    app.add_option(
           "--max-closure", options->limit, "exit with status 1 if the total is above this: 3GB")
        ->type_name("SIZE")
        ->check(not_empty("the size is empty"));
    auto* why = app.add_subcommand("why", "show why a package is included, and its size");
    why->fallthrough();  // --json after the subcommand
    const auto show_why = bind_closure_why(*why);
    app.footer(
        "Shows the packages of an environment (-n, -p or the active one), or the packages that a "
        "request would install, by size.\n"
        "\n"
        "Size is the package alone: on disk, or to download for a request. Unique adds the "
        "dependencies that nothing else needs: this much is saved without the package. With deps "
        "adds all dependencies. Shared is the part of them that other packages need too. Brought "
        "in by is the package that every chain of dependencies to it goes through.\n"
        "\n"
        "  gpkg closure -n ml\n"
        "  gpkg closure pytorch 'cuda-version=12.*' --for h100 --html pytorch.html\n"
        "  gpkg closure pytorch --without 'libopencv*' --without 'libav*'\n"
        "  gpkg closure -f environment.yml --max-closure 3GB\n"
        "  gpkg closure why ml libmagma");

    return [options, why, show_why, &app](Context& context) -> Result<int> {
        if (!why->parsed()) return show(context, *options);
        GPKG_CHECK(check_own_options_unused(app, *why));
        return show_why(context);
    };
}

}  // namespace gpkg::cli
