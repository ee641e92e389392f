#include "cli/workflow/build/slurm_plan.hpp"

#include "cli/workflow/build/report.hpp"
#include "cli/workflow/build/slurm_jobs.hpp"
#include "libcore/base/text.hpp"
#include "libcore/build/cluster/build_tasks.hpp"

#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>

namespace gpkg::cli {

Result<int> print_slurm_plan(Context& context,
                             const BuildRequest& request,
                             const BuildPlan& plan,
                             const BuildOptions& options) {
    const auto tasks = build_tasks(plan);
    std::map<std::size_t, std::vector<const BuildTask*>> waves;
    for (const auto& task : tasks) waves[task.wave].push_back(&task);
    auto document = nlohmann::ordered_json::array();
    for (const auto& [number, wave] : waves) {
        GPKG_TRY(auto array, SlurmJobs::array_request(context, request, wave.size()));
        array.name = "gpkg-build-...";
        array.logs = options.work / "slurm" / "...";
        array.script = array.logs / "script.sh";
        const auto command = sbatch_command(array);
        context.out.print(fmt::format("wave {}: {}", number + 1, shell_words(command)));
        auto list = nlohmann::ordered_json::array();
        for (const auto* task : wave) {
            auto builds = nlohmann::ordered_json::array();
            for (const auto i : task->builds) {
                const auto& build = plan.builds[i];
                builds.push_back({{"package", build.distribution},
                                  {"recipe", build.recipe.native()},
                                  {"reason", build.reason},
                                  {"variant", build.variant}});
                context.out.print("  " + planned_text(build));
            }
            list.push_back(std::move(builds));
        }
        document.push_back({{"sbatch", command}, {"tasks", std::move(list)}});
    }
    const auto failures = report_plan_failures(context, plan);
    print_plan_total(context, plan);
    const bool success = failures.empty();
    if (context.out.json_mode())
        context.out.json({{"success", success}, {"waves", document}, {"failures", failures}});
    return success ? 0 : 1;
}

}  // namespace gpkg::cli
