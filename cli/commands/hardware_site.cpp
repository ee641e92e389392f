#include "cli/commands/hardware.hpp"
#include "cli/options.hpp"
#include "cli/table.hpp"
#include "cli/workflow/machine.hpp"
#include "cli/workflow/site_profiles.hpp"
#include "libcore/base/text.hpp"
#include "libcore/fs/file_system.hpp"
#include "libcore/fs/own_program.hpp"
#include "virtual-packages/machines.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <set>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;
using namespace virtual_packages;

Result<ProbeOptions> probe_options(const Context& context, const SiteOptions& options) {
    ProbeOptions probe;
    probe.gpkg = options.gpkg;
    if (options.gpkg.empty()) {
        GPKG_TRY(probe.gpkg, own_program());
    }
    for (const auto& text : options.words) {
        GPKG_TRY(const auto words,
                 words_of_option(text, options.slurm ? "--slurm-options" : "--ssh-options"));
        probe.words.insert(probe.words.end(), words.begin(), words.end());
    }
    probe.wait = std::chrono::seconds(options.wait);
    probe.cancelled = [&context] { return context.stop.stop_requested(); };
    return probe;
}

fs::path folder_of(const Context& context, const SiteOptions& options) {
    return options.folder.empty() ? profile_folders(context.config).front()
                                  : absolute_path(options.folder, context.home);
}

void print_kinds(Output& out, const std::vector<NodeKind>& kinds) {
    Table table;
    for (const auto& kind : kinds)
        table.add({fmt::format("{}", fmt::join(kind.partitions(), ",")),
                   kind.nodes.size() == 1
                       ? kind.first().name
                       : fmt::format("{} and {} more", kind.first().name, kind.nodes.size() - 1),
                   fmt::format("{}", fmt::join(kind.first().features, ",")),
                   gpus_text(kind)});
    out.print(table);
}

/// Jobs cost somebody something: they are the user's to allow.
bool may_probe(Context& context, const SiteOptions& options, std::size_t kinds) {
    if (options.no_probe) return false;
    if (context.out.yes()) return true;
    const auto question =
        fmt::format("\nStart {} on {} with srun, for at most two minutes, to detect the hardware?",
                    kinds == 1 ? "a job" : fmt::format("{} jobs", kinds),
                    kinds == 1 ? "this node" : "the first node of each kind");
    return context.out.ask_yes_no(question, false, context.stop).value_or(false);
}

Json kind_document(const NodeKind& kind, const KnownMachine& known) {
    Json document{{"partitions", kind.partitions()},
                  {"features", kind.first().features},
                  {"gpus", Json::array()},
                  {"nodes", Json::array()},
                  {"asked", known.profile->known_by_names ? Json() : Json(known.name)},
                  {"remarks", known.remarks},
                  {"error", known.failure ? Json(known.failure->to_string()) : Json()}};
    for (const auto& [type, count] : kind.first().gpus)
        document["gpus"].push_back({{"type", type}, {"count", count}});
    for (const auto& node : kind.nodes) document["nodes"].push_back(node.name);
    return document;
}

/// Whether all that were to be asked have answered.
bool tell_machines(Context& context, const std::vector<KnownMachine>& machines) {
    bool all = true;
    for (const auto& machine : machines) {
        for (const auto& remark : machine.remarks)
            context.out.warn(fmt::format("{}: {}", machine.name, remark));
        if (!machine.failure) continue;
        all = false;
        const auto& failure = *machine.failure;
        context.out.warn(failure.to_string());
    }
    return all;
}

/// Writes them, and gives what is told of each to a program.
Result<Json> write_all(Context& context,
                       const std::vector<SiteProfile>& profiles,
                       const fs::path& folder) {
    // Either all or none: what is in the way is told before anything is written.
    for (const auto& profile : profiles)
        GPKG_CHECK(check_is_profile(folder / (profile.name + ".yaml")));
    auto document = Json::array();
    Table table;
    for (const auto& profile : profiles) {
        GPKG_TRY(const auto written, write_site_profile(profile, folder));
        table.add({profile.name,
                   summary_of(written.profile),
                   context.out.faint(written.was_kept ? "kept, from " + written.profile.origin
                                                      : written.profile.origin)});
        document.push_back({{"name", profile.name},
                            {"file", written.file.native()},
                            {"by_names", written.profile.known_by_names},
                            {"kept", written.was_kept},
                            {"profile", format_profile(written.profile)}});
    }
    context.out.result(table);
    if (!profiles.empty())
        context.out.note(fmt::format(
            "{}:  gpkg create -n NAME --for {} ...", folder.native(), profiles.front().name));
    return document;
}

Result<int> of_slurm(Context& context, const SiteOptions& options) {
    GPKG_TRY(const auto probe, probe_options(context, options));
    GPKG_TRY(auto nodes, slurm_nodes(options.partitions, probe.cancelled));
    const auto kinds = node_kinds(std::move(nodes));
    print_kinds(context.out, kinds);
    if (options.dry_run) {
        Json document{{"success", true}, {"dry_run", true}, {"commands", Json::array()}};
        for (const auto& kind : kinds) {
            const auto command = shell_words(probe_command(kind, probe));
            context.out.print(command);
            document["commands"].push_back(command);
        }
        if (context.out.json_mode()) context.out.json(document);
        return 0;
    }
    // Not when jobs have run for it.
    GPKG_CHECK(check_writable_folder(folder_of(context, options)));
    const bool asks = may_probe(context, options, kinds.size());
    const auto known = know_kinds(kinds, probe, asks);
    GPKG_CHECK(check_stop(context));
    const bool is_whole = tell_machines(context, known);
    context.out.print("");
    GPKG_TRY(auto profiles,
             write_all(context, partition_profiles(kinds, known), folder_of(context, options)));
    if (!asks && !options.no_probe)
        context.out.note(
            "the profiles are derived from names only; to detect the hardware with a job on one "
            "node of each kind, use --yes");
    if (context.out.json_mode()) {
        auto machines = Json::array();
        for (std::size_t place = 0; place < kinds.size(); ++place)
            machines.push_back(kind_document(kinds[place], known[place]));
        context.out.json({{"success", is_whole},
                          {"profiles", std::move(profiles)},
                          {"kinds", std::move(machines)}});
    }
    return is_whole ? 0 : 1;
}

/// "node1" of "me@node1".
std::string name_of(const std::string& host) { return host.substr(host.rfind('@') + 1); }

Result<int> of_hosts(Context& context, const SiteOptions& options) {
    std::set<std::string> names;
    for (const auto& host : options.hosts) {
        // ssh takes what begins with '-' for an option, and a file's name has no '/'.
        const bool is_name = std::ranges::all_of(host, [](char c) {
            return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                   std::string_view("._@:%-").find(c) != std::string_view::npos;
        });
        if (host.empty() || host.front() == '-' || !is_name)
            return fail(ErrorKind::Usage, fmt::format("--hosts: '{}' is not a host name", host));
        if (!names.insert(name_of(host)).second)
            return fail(ErrorKind::Usage, fmt::format("--hosts: {} is given twice", name_of(host)));
    }
    GPKG_TRY(const auto probe, probe_options(context, options));
    GPKG_CHECK(check_writable_folder(folder_of(context, options)));
    const auto known = know_hosts(options.hosts, probe);
    GPKG_CHECK(check_stop(context));
    const bool is_whole = tell_machines(context, known);
    std::vector<SiteProfile> found;
    for (const auto& machine : known) {
        if (machine.profile) found.push_back({"host=" + name_of(machine.name), *machine.profile});
    }
    GPKG_TRY(auto profiles, write_all(context, found, folder_of(context, options)));
    if (context.out.json_mode()) {
        auto failures = Json::array();
        for (const auto& machine : known) {
            if (machine.failure)
                failures.push_back(
                    {{"host", machine.name}, {"error", machine.failure->to_string()}});
        }
        context.out.json({{"success", is_whole},
                          {"profiles", std::move(profiles)},
                          {"failures", std::move(failures)}});
    }
    return is_whole ? 0 : 1;
}

}  // namespace

void add_site_options(CLI::App& app, SiteOptions& options) {
    auto* slurm =
        app.add_flag("--slurm", options.slurm, "write profiles of the partitions of this cluster");
    auto* hosts = app.add_option("--hosts", options.hosts, "write profiles of hosts, using ssh")
                      ->delimiter(',')
                      ->type_name("HOST,...");
    slurm->excludes(hosts);
    app.add_option("--partition", options.partitions, "only these partitions, with --slurm")
        ->delimiter(',')
        ->type_name("NAME,...")
        ->needs(slurm);
    auto* yes = add_yes_option(app, "start detection jobs without asking, with --slurm");
    yes->needs(slurm);
    auto* no_probe = app.add_flag(
        "--no-probe", options.no_probe, "start no jobs, derive from names, with --slurm");
    no_probe->needs(slurm)->excludes(yes);
    app.add_flag("--dry-run", options.dry_run, "show the jobs and write nothing, with --slurm")
        ->needs(slurm);
    app.add_option("--wait", options.wait, "seconds to wait for a node or a host")
        ->check(CLI::Range(1, 86'400))
        ->type_name("SECONDS")
        ->capture_default_str();
    app.add_option("--gpkg", options.gpkg, "gpkg on the other machine; default: same path as here")
        ->type_name("PATH");
    app.add_option("--slurm-options,--ssh-options",
                   options.words,
                   "options for srun or ssh: '--account=a --qos=short'")
        ->type_name("OPTIONS");
}

Result<int> write_site_profiles(Context& context, const SiteOptions& options) {
    return options.slurm ? of_slurm(context, options) : of_hosts(context, options);
}

}  // namespace gpkg::cli
