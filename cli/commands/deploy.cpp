#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/options.hpp"
#include "cli/workflow/delivery/deploying.hpp"
#include "libcore/base/json_text.hpp"
#include "libcore/base/text.hpp"
#include "libcore/cluster/slurm_command.hpp"
#include "libcore/config/config.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <nlohmann/json.hpp>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;

struct DeployVerbOptions {
    DeployRequest request;
    std::string format;
    std::string method = "auto";
    bool slurm = false;
    bool clean = false;
    bool epilog = false;
    std::string output;
    std::string word;                ///< for --help alone
    std::vector<std::string> words;  ///< likewise
};

struct DeployWords {
    std::string file;
    std::vector<std::string> command;  ///< behind "--"
};

Result<DeployWords> words_of(const Context& context) {
    DeployWords words;
    const auto& typed = context.arguments;
    const auto dashes = std::find(typed.begin(), typed.end(), "--");
    if (dashes != typed.end()) words.command.assign(dashes + 1, typed.end());
    const auto place = static_cast<std::size_t>(dashes - typed.begin());
    bool is_verb = true;
    for (const auto at : context.positionals) {
        if (at >= place) break;
        if (std::exchange(is_verb, false)) continue;
        if (!words.file.empty())
            return fail(
                ErrorKind::Usage,
                fmt::format("unexpected argument '{}': give one file, and the command after --",
                            typed[at]),
                "write -- before the command: gpkg deploy -n ml --slurm -- python train.py");
        words.file = typed[at];
    }
    return words;
}

CopyMethod method_of(const std::string& word) {
    if (word == "sbcast") return CopyMethod::Sbcast;
    if (word == "srun") return CopyMethod::Srun;
    return word == "read" ? CopyMethod::Read : CopyMethod::Auto;
}

Json document_of(const Deployment& deployment) {
    const auto& done = deployment.done;
    auto failures = Json::array();
    for (const auto& failure : done.failures)
        failures.push_back({{"node", failure.node}, {"error", failure.why}});
    return {{"success", done.failures.empty()},
            {"path", deployment.path().native()},
            {"format", deployment.payload.is_pack ? "pack" : "image"},
            {"file", deployment.payload.file.native()},
            {"bytes", deployment.payload.size},
            {"sha256", deployment.payload.sha256},
            {"nodes", deployment.nodes},
            {"brought_to", deployment.placement.lacking},
            {"copied_by", name_of(done.method)},
            {"seconds",
             {{"file", deployment.file_seconds},
              {"place", deployment.place_seconds},
              {"copy", done.copy_seconds},
              {"check", done.check_seconds}}},
            {"failures", std::move(failures)}};
}

void tell(Context& context, const Deployment& deployment) {
    auto& out = context.out;
    const auto& done = deployment.done;
    const auto count = deployment.placement.lacking.size();
    // What was unpacked is not compared file by file.
    const auto* seen =
        deployment.payload.is_pack ? "unpacked from this archive" : "checksum verified";
    out.note(
        count == 0
            ? fmt::format("{} nodes have it already ({})", deployment.nodes.size(), seen)
            : fmt::format("copied {} to {} {} with {} in {:.1f} s; checked and started in {:.1f} s",
                          human_size(deployment.payload.size),
                          count,
                          count == 1 ? "node" : "nodes",
                          name_of(done.method),
                          done.copy_seconds,
                          done.check_seconds));
    const auto start =
        start_words(shell_word(deployment.path().native()), deployment.payload.is_pack, "COMMAND");
    if (start) out.note(*start);
}

Result<int> to_job(Context& context, const DeployVerbOptions& options) {
    GPKG_TRY(const auto deployment, deploy_to_job(context, options.request));
    if (const auto& failures = deployment.done.failures; !failures.empty()) {
        auto error = error_of(
            failures,
            failures.size() < deployment.nodes.size()
                ? fmt::format("the other nodes have it at {}; run the command again to retry these",
                              deployment.path().native())
                : "");
        error.details = json_text(document_of(deployment));
        return pass(std::move(error));
    }
    tell(context, deployment);
    if (context.out.json_mode())
        context.out.json(document_of(deployment));
    else
        context.out.verbatim(deployment.path().native());
    return 0;
}

Result<int> to_script(Context& context,
                      const DeployVerbOptions& options,
                      const std::vector<std::string>& command) {
    GPKG_TRY(const auto script, batch_script(context, options.request, command));
    if (!options.output.empty()) {
        const auto file = absolute_path(options.output, context.home);
        GPKG_CHECK(check_replaceable(file, "a batch script", [](const fs::path& path) {
            const auto text = read_file(path, kLongestWritten);
            return text && text->find("# Written by gpkg deploy") != std::string::npos;
        }));
        GPKG_CHECK(write_file_atomically(file, script));
        context.out.note(
            fmt::format("{}to submit it: sbatch -N NODES {}",
                        command.empty() ? "write your command into its last line; " : "",
                        shell_word(file.native())));
    } else {
        context.out.note(
            "to submit it: write it to a file with -o job.sbatch, then sbatch -N NODES job.sbatch");
    }
    if (context.out.json_mode())
        context.out.json({{"success", true}, {"script", script}});
    else if (options.output.empty())
        context.out.verbatim(script.substr(0, script.size() - 1));
    return 0;
}

Result<int> clean(Context& context, const DeployVerbOptions& options) {
    GPKG_TRY(const bool had_any, clean_job(context, options.request.folders));
    if (!had_any) {
        std::vector<std::string> texts;
        for (const auto& folder : local_folders(context, options.request.folders))
            texts.push_back(folder.native());
        context.out.note(
            fmt::format("found nothing from this job in {}; choose another folder with --to",
                        fmt::join(texts, ", ")));
    }
    if (context.out.json_mode()) context.out.json({{"success", true}});
    return 0;
}

/// "gpkg deploy -n ml --slurm -- COMMAND"
std::string script_command(const DeployVerbOptions& options,
                           const std::vector<std::string>& words) {
    const auto& what = options.request.what;
    const auto& target = what.of.target;
    std::string source = "-n NAME";
    if (!what.file.empty()) source = shell_word(what.file);
    if (!target.name.empty()) source = "-n " + shell_word(target.name);
    if (!target.prefix.empty()) source = "-p " + shell_word(target.prefix);
    if (!what.of.lock.file.empty()) source = "--from-lock " + shell_word(what.of.lock.file);
    const auto output =
        options.output.empty() ? std::string() : " -o " + shell_word(options.output);
    return fmt::format("to write a batch script: gpkg deploy {} --slurm{} -- {}",
                       source,
                       output,
                       words.empty() ? "COMMAND" : shell_words(words));
}

/// With "$USER" where they depend on the user.
Result<std::vector<fs::path>> folders_of_anybody(const Context& context,
                                                 const std::vector<std::string>& named) {
    if (!named.empty()) return local_folders(context, named);
    ConfigSources sources{context.env, context.home, context.config.platform.value};
    sources.environment = [&](std::string_view name) -> std::optional<std::string> {
        if (name == "USER") return "$USER";
        if (name == "GPKG_ROOT_PREFIX") return context.config.root_prefix.value.native();
        return context.env(name);
    };
    GPKG_TRY(const auto config, load_config(sources));
    // TMPDIR is of whoever asks, not of the jobs to come.
    if (config.local_folders.value.empty()) return std::vector<fs::path>{"/tmp"};
    return config.local_folders.value;
}

Result<int> print_epilog(Context& context, const DeployVerbOptions& options) {
    GPKG_TRY(const auto folders, folders_of_anybody(context, options.request.folders));
    const auto script = epilog_script(folders);
    if (context.out.json_mode())
        context.out.json({{"success", true}, {"script", script}});
    else
        context.out.verbatim(script.substr(0, script.size() - 1));
    return 0;
}

Result<int> run(Context& context, DeployVerbOptions options) {
    if (options.clean && options.epilog)
        return fail(ErrorKind::Usage, "--clean cannot be used with --epilog");
    GPKG_TRY(const auto words, words_of(context));
    auto& what = options.request.what;
    what.file = words.file;
    const bool names_other = !what.of.target.name.empty() || !what.of.target.prefix.empty() ||
                             !what.of.lock.file.empty();
    if ((options.clean || options.epilog) &&
        (names_other || !words.file.empty() || !words.command.empty() || !options.output.empty() ||
         options.slurm || !options.format.empty()))
        return fail(ErrorKind::Usage, "--clean and --epilog can be used only with --to");
    if (options.epilog) return print_epilog(context, options);
    if (!what.file.empty() && (names_other || !options.format.empty()))
        return fail(ErrorKind::Usage,
                    "a file cannot be used with -n, -p, --from-lock or --format",
                    "a command stands behind --: gpkg deploy -n ml --slurm -- python train.py");
    what.is_pack = options.format == "pack";
    options.request.method = method_of(options.method);
    const bool in_job = in_slurm_job();
    if (options.clean && !in_job)
        return fail(ErrorKind::Usage, "--clean works only inside a Slurm job");
    if (options.clean) return clean(context, options);
    const bool wants_script =
        !options.output.empty() || !words.command.empty() || (options.slurm && !in_job);
    if (wants_script && !options.slurm)
        return fail(ErrorKind::Usage,
                    "a command and -o need --slurm",
                    script_command(options, words.command));
    if (wants_script) return to_script(context, options, words.command);
    if (!in_job)
        return fail(ErrorKind::Usage, "not inside a Slurm job", script_command(options, {}));
    return to_job(context, options);
}

}  // namespace

Action bind_deploy(CLI::App& app) {
    const auto options = std::make_shared<DeployVerbOptions>();
    auto& request = options->request;
    add_imaged_sources(app, request.what.of);
    app.get_option("--for")->description(
        "machine to take the packages of --from-lock for; partition=NAME also names the partition "
        "in the batch script");
    app.add_option("file", options->word, "existing image or archive instead of an environment")
        ->type_name("FILE");
    app.add_option("command", options->words, "command for the batch script of --slurm")
        ->type_name("-- COMMAND");
    app.add_option(
           "--format", options->format, "image (mounted by commands) or pack (unpacked on nodes)")
        ->type_name("FORMAT")
        ->check(one_of({"image", "pack"}));
    app.add_option("--to", request.folders, "local folder on every node; repeat it to try several")
        ->type_name("DIR")
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false);
    app.add_option(
           "--copy", options->method, "how to copy: auto, sbcast, srun or read (by each node)")
        ->type_name("METHOD")
        ->check(one_of({"auto", "sbcast", "srun", "read"}));
    app.add_flag("--slurm", options->slurm, "write a batch script for sbatch");
    app.add_option("-o,--output", options->output, "file to write the batch script to")
        ->type_name("FILE");
    app.add_flag("--clean", options->clean, "remove the copies of this job from all its nodes");
    app.add_flag(
        "--epilog", options->epilog, "print an Epilog script for slurm.conf that removes them");
    app.footer(
        "Inside a Slurm job: copies an environment to the local disk of every node, verifies its "
        "checksum and starts it once. Prints its path, which is the same on all nodes. Outside a "
        "job, --slurm writes a batch script that does this.\n\n"
        "  env=$(gpkg deploy -n ml)\n"
        "  srun gpkg image run \"$env\" -- python train.py\n"
        "  gpkg deploy -n ml --format pack       # unpack it on every node instead\n"
        "  gpkg deploy -n ml --slurm -o ml.sbatch -- python train.py");

    return [options](Context& context) { return run(context, *options); };
}

}  // namespace gpkg::cli
