#include "cli/commands/repoquery.hpp"
#include "cli/table.hpp"
#include "cli/workflow/ask/dependencies.hpp"
#include "cli/workflow/record_text.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/order.hpp"
#include "libcore/env/prefix.hpp"
#include "libcore/index/queries.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace gpkg::cli::repoquery {
namespace {

using IsMeant = std::function<bool(const MatchSpec&)>;

bool is_virtual(const MatchSpec& spec) { return spec.name.starts_with("__"); }

/// What machines could meet that have this version of a virtual package: there are no records of
/// them, so that only one version can be asked about.
Result<IsMeant> met_by_machine(const MatchSpec& spec) {
    const auto* version = !spec.version                      ? nullptr
                          : spec.version->exact() != nullptr ? spec.version->exact()
                                                             : spec.version->fuzzy();
    if (!spec.has_one_name() || version == nullptr || (spec.build && !spec.build->is_exact()))
        return fail(ErrorKind::Usage,
                    fmt::format("{}: a query for a virtual package needs exactly one version",
                                spec.to_string()),
                    fmt::format("use {0}=VERSION, {0}=VERSION=BUILD, or {0} alone", spec.name));
    PackageRecord machine;
    machine.name = spec.name;
    machine.version = version->to_string();
    if (spec.build) machine.build = spec.build->text();
    return [machine, any_build = !spec.build](MatchSpec dependency) {
        if (any_build) dependency.build.reset();
        return dependency.matches(machine);
    };
}

// --- channels

/// The records of one name in one subdir that need what is asked about.
struct Users {
    const ChannelIndex* index = nullptr;
    const SpecMarks* marks = nullptr;
    Dependents records;
};

/// The names in question: those that anything has or names.
std::vector<std::string> names_asked(const MatchSpec& spec, const Searched& searched) {
    std::set<std::string> names;
    for (const auto& index : searched.indexes) {
        if (spec.has_one_name()) {
            const auto [first, end] = index->specs_on(spec.name);
            if (first != end || index->has(spec.name)) names.insert(spec.name);
            continue;
        }
        for (const auto name : index->mentioned_names()) {
            if (!spec.name_matcher || spec.name_matcher->matches(name)) names.emplace(name);
        }
    }
    return {names.begin(), names.end()};
}

/// For each index the specs that ask for a name, or that what `spec` matches could meet.
Result<std::vector<SpecMarks>> mark(const MatchSpec& spec, const Searched& searched) {
    const auto names = names_asked(spec, searched);
    if (names.empty()) {
        std::set<std::string> known;
        for (const auto& index : searched.indexes) {
            for (const auto name : index->mentioned_names()) known.emplace(name);
        }
        return no_such_name(spec, searched, known);
    }
    std::vector<SpecMarks> marks;
    for (const auto& index : searched.indexes) marks.emplace_back(index->spec_count());
    const auto mark_each = [&](const std::string& name, const IsMeant* is_meant) -> Result<void> {
        for (std::size_t i = 0; i < marks.size(); ++i) {
            const auto& index = *searched.indexes[i];
            GPKG_CHECK(is_meant == nullptr ? mark_specs_on(index, name, marks[i])
                                           : mark_specs_on(index, name, *is_meant, marks[i]));
        }
        return {};
    };
    if (is_name_alone(spec)) {
        for (const auto& name : names) GPKG_CHECK(mark_each(name, nullptr));
        return marks;
    }
    if (is_virtual(spec)) {
        GPKG_TRY(const IsMeant is_meant, met_by_machine(spec));
        GPKG_CHECK(mark_each(spec.name, &is_meant));
        return marks;
    }
    bool found = false;
    for (const auto& name : names) {
        GPKG_TRY(auto records, find_records(spec, std::span(&name, 1), searched));
        if (records.empty()) continue;
        found = true;
        const Providers providers(std::move(records));
        const IsMeant is_met = [&](const MatchSpec& one) { return providers.meet(one); };
        GPKG_CHECK(mark_each(name, &is_met));
    }
    if (!found) return nothing_found(spec, searched);
    return marks;
}

Result<std::vector<Users>> users_in(const Searched& searched, const std::vector<SpecMarks>& marks) {
    std::vector<Users> users;
    for (std::size_t i = 0; i < marks.size(); ++i) {
        const auto& index = *searched.indexes[i];
        GPKG_TRY(auto found, dependents(index, marks[i], searched.exclude_newer));
        for (auto& records : found) users.push_back({&index, &marks[i], std::move(records)});
    }
    std::stable_sort(users.begin(), users.end(), [](const auto& a, const auto& b) {
        return a.records.of.name() < b.records.of.name();
    });
    return users;
}

Result<std::string> reasons_text(const Users& users, const ChannelIndex::Row& row) {
    GPKG_TRY(const auto specs, marked_specs(*users.index, users.records.of, row, *users.marks));
    std::string text;
    for (const auto& [spec, extra] : specs)
        text += (text.empty() ? "" : "; ") + dependency_text(spec, extra);
    return text;
}

Result<void> print(const Context& context, const Query& query, const std::vector<Users>& all) {
    Table table(query.all ? std::vector<std::size_t>() : std::vector<std::size_t>{4});
    shorten_record_columns(table);
    table.may_wrap(query.all ? 4 : 5);
    std::size_t builds = 0;
    if (query.all) {
        table.add({"# Name", "Version", "Build", "Channel", "Needs"});
    } else {
        table.add({"# Name", "Version", "Build", "Channel", "Builds", "Needs"});
    }
    std::map<const ChannelIndex*, std::string> channels;
    for (const auto& users : all) {
        const auto& [of, rows] = users.records;
        builds += rows.size();
        auto& channel = channels[users.index];
        if (channel.empty()) {
            GPKG_TRY(const auto record, users.index->record(of, *rows.front()));
            channel = channel_text(context, record);
        }
        const auto shown = query.all ? rows.size() : std::size_t{1};
        for (std::size_t i = 0; i < shown; ++i) {
            GPKG_TRY(auto reasons, reasons_text(users, *rows[i]));
            std::vector<std::string> cells{std::string(of.name()),
                                           std::string(of.version(*rows[i])),
                                           std::string(of.build(*rows[i])),
                                           channel};
            if (!query.all) cells.push_back(std::to_string(rows.size()));
            cells.push_back(std::move(reasons));
            table.add(std::move(cells));
        }
    }
    context.out.result(table);
    if (!query.all && builds > all.size())
        context.out.note(
            fmt::format("newest build of each package; --all shows all {} builds", builds));
    return {};
}

Result<Json> record_json(const Users& users, const ChannelIndex::Row& row) {
    const auto& of = users.records.of;
    GPKG_TRY(const auto record, users.index->record(of, row));
    auto json = search_json(record);
    GPKG_TRY(const auto specs, marked_specs(*users.index, of, row, *users.marks));
    for (const auto& [spec, extra] : specs)
        json["needs"].push_back({{"spec", spec}, {"extra", extra.empty() ? Json() : Json(extra)}});
    return json;
}

/// One record after the other: of python there may be half a million.
Result<void> print_json(Output& out,
                        const Query& query,
                        const Searched& searched,
                        const std::vector<Users>& all) {
    // Damage to an index is told now, not in the midst of the document.
    for (const auto& index : searched.indexes) {
        for (std::size_t spec = 0; spec < index->spec_count(); ++spec)
            GPKG_CHECK(index->spec(static_cast<ChannelIndex::SpecNumber>(spec)));
    }
    auto users = all.begin();
    std::size_t row = 0;
    out.json(document(query, "whoneeds", {{"pkgs", Json::array()}}), [&]() -> std::optional<Json> {
        if (users != all.end() && row == users->records.rows.size()) {
            ++users;
            row = 0;
        }
        if (users == all.end()) return std::nullopt;
        return record_json(*users, *users->records.rows[row++]).value();
    });
    return {};
}

tl::unexpected<Error> environments_only(std::string_view flag) {
    return fail(ErrorKind::Usage,
                fmt::format("{} works only in an environment, not in channels", flag),
                "name an environment with -n or -p");
}

Result<int> in_channels(Context& context, const Query& query) {
    if (query.recursive) return environments_only("--recursive");
    GPKG_TRY(auto inquiry, Inquiry::begin(context, query.spec, query.sources, Extent::Whole));
    auto& [channels, searched] = inquiry;
    GPKG_TRY(searched.indexes, channels.look_up({}));
    GPKG_TRY(const auto marks, mark(query.spec, searched));
    GPKG_TRY(const auto users, users_in(searched, marks));
    if (context.out.json_mode()) {
        GPKG_CHECK(print_json(context.out, query, searched, users));
    } else if (users.empty()) {
        context.out.result(
            fmt::format("nothing in {} needs {}", searched.where(), query.spec.to_string()));
    } else {
        GPKG_CHECK(print(context, query, users));
    }
    return 0;
}

// --- environments

/// A dependency of an installed package.
struct Reason {
    std::size_t from = 0;
    std::optional<std::size_t> to;  ///< none for the machine and what is missing
    std::string spec, extra;
};

struct Installed {
    RecordGraph graph;
    std::vector<bool> asked;      ///< what is asked about, as far as it is installed
    std::vector<Reason> outside;  ///< who needs it, where it is not
};

Result<Installed> look(const Query& query) {
    const auto& spec = query.spec;
    GPKG_TRY(const auto prefix, Prefix::open(*query.prefix));
    GPKG_TRY(const auto records, prefix.records());
    Installed found{graph_of(records), std::vector<bool>(records.size()), {}};
    IsMeant is_meant = [](const MatchSpec&) { return true; };
    if (is_virtual(spec) && !is_name_alone(spec)) {
        GPKG_TRY(is_meant, met_by_machine(spec));
    }
    const bool may_be_outside = is_virtual(spec) || is_name_alone(spec);
    for (std::size_t place = 0; may_be_outside && place < records.size(); ++place) {
        for (const auto& need : found.graph.outside_needs(place)) {
            if (spec.name_matcher ? !spec.name_matcher->matches(need.name) : need.name != spec.name)
                continue;
            const auto dependency = MatchSpec::parse(need.spec);
            if (dependency && is_meant(*dependency))
                found.outside.push_back({place, std::nullopt, need.spec, need.extra});
        }
    }
    auto asked = find_installed(spec, records, *query.prefix);
    if (asked) {
        found.asked = *std::move(asked);
    } else if (found.outside.empty() && !is_virtual(spec)) {
        return pass(std::move(asked).error());
    }
    return found;
}

/// Who needs what is asked about, by name; with `recursive` also who needs those.
std::vector<Reason> reasons_of(const Installed& found, bool recursive) {
    const auto& graph = found.graph;
    auto start = found.asked;
    auto reasons = found.outside;
    if (recursive) {
        for (const auto& reason : reasons) start[reason.from] = true;
        start = graph.all_needing(std::move(start));
    }
    for (std::size_t place = 0; place < start.size(); ++place) {
        if (!start[place]) continue;
        for (const auto& need : graph.needed_by(place))
            reasons.push_back({need.from, need.to, need.spec, need.extra});
    }
    std::stable_sort(reasons.begin(), reasons.end(), [&](const auto& a, const auto& b) {
        return graph.records()[a.from].name < graph.records()[b.from].name;
    });
    return reasons;
}

void print(Output& out, const RecordGraph& graph, const std::vector<Reason>& reasons) {
    Table table;
    table.may_shorten(2, 12);
    table.may_drop(2);
    table.may_wrap(3);
    table.add({"# Name", "Version", "Build", "Needs"});
    for (std::size_t i = 0; i < reasons.size(); ++i) {
        const auto& reason = reasons[i];
        const auto& record = graph.records()[reason.from];
        const auto text = dependency_text(reason.spec, reason.extra);
        const bool is_same = i > 0 && reasons[i - 1].from == reason.from;
        table.add(is_same
                      ? std::vector<std::string>{"", "", "", text}
                      : std::vector<std::string>{record.name, record.version, record.build, text});
    }
    out.result(table);
}

/// What is asked about as "roots", and who needs it.
Json json_of(const Installed& found, const std::vector<Reason>& reasons) {
    const auto& records = found.graph.records();
    std::map<std::size_t, std::size_t> numbers;
    auto packages = Json::array();
    const auto number_of = [&](std::size_t place) {
        const auto [entry, is_new] = numbers.emplace(place, packages.size());
        if (is_new) {
            packages.push_back(search_json(records[place]));
            packages.back()["needs"] = Json::array();
        }
        return entry->second;
    };
    auto roots = Json::array();
    for (std::size_t place = 0; place < records.size(); ++place) {
        if (found.asked[place]) roots.push_back(number_of(place));
    }
    for (const auto& reason : reasons) number_of(reason.from);
    for (const auto& reason : reasons)
        packages[number_of(reason.from)]["needs"].push_back(
            {{"spec", reason.spec},
             {"extra", reason.extra.empty() ? Json() : Json(reason.extra)},
             {"pkg", reason.to ? Json(number_of(*reason.to)) : Json()}});
    return {{"roots", std::move(roots)}, {"pkgs", std::move(packages)}};
}

}  // namespace

Result<int> whoneeds(Context& context, const Query& query) {
    if (!query.prefix) return in_channels(context, query);
    GPKG_TRY(const auto found, look(query));
    const auto reasons = reasons_of(found, query.recursive);
    if (context.out.json_mode()) {
        context.out.json(document(query, "whoneeds", json_of(found, reasons)));
    } else if (reasons.empty()) {
        context.out.result(
            fmt::format("nothing in {} needs {}", query.prefix->native(), query.spec.to_string()));
    } else {
        print(context.out, found.graph, reasons);
    }
    return 0;
}

Result<int> inverted_tree(Context& context, const Query& query) {
    if (!query.prefix) return environments_only(query.invert ? "--invert" : "--tree");
    GPKG_TRY(const auto found, look(query));
    if (context.out.json_mode()) {
        context.out.json(document(query, "whoneeds", json_of(found, reasons_of(found, true))));
        return 0;
    }
    const auto& records = found.graph.records();
    const auto branch = [&](std::size_t from, const std::string& spec, const std::string& extra) {
        return Branch{
            fmt::format("{} (needs {})", record_title(records[from]), dependency_text(spec, extra)),
            from};
    };
    // What is not installed stands behind all that is.
    const auto outside = records.size();
    TreePrinter printer(context.out, query.depth, [&](std::size_t place) {
        std::vector<Branch> branches;
        if (place == outside) {
            for (const auto& reason : found.outside)
                branches.push_back(branch(reason.from, reason.spec, reason.extra));
            return branches;
        }
        for (const auto& need : found.graph.needed_by(place))
            branches.push_back(branch(need.from, need.spec, need.extra));
        return branches;
    });
    for (std::size_t place = 0; place < records.size(); ++place) {
        if (found.asked[place]) printer.draw(record_title(records[place]), place);
    }
    if (!found.outside.empty()) printer.draw(query.spec.to_string(), outside);
    printer.finish();
    return 0;
}

}  // namespace gpkg::cli::repoquery
