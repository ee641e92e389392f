#include "cli/workflow/build/trial.hpp"

#include "cli/workflow/change.hpp"
#include "cli/workflow/fetch.hpp"
#include "cli/workflow/link_scripts.hpp"
#include "libcore/env/transaction.hpp"
#include "libcore/spec/match_spec.hpp"

namespace gpkg::cli {

Result<SolvedTrial> solve_trial(Context& context,
                                const Sources& sources,
                                const std::vector<std::string>& specs) {
    ChangeRequest request;
    request.accelerators.all = {AcceleratorChoice::Conda};  // what is built is the recipe's to say
    request.specs_stand = ChangeRequest::SpecsStand::InRecipe;
    for (const auto& text : specs) {
        GPKG_TRY(auto spec, MatchSpec::parse(text));
        request.specs.push_back(std::move(spec));
    }
    GPKG_TRY(auto change, decide(context, sources, request));
    return SolvedTrial{std::move(change.link), std::move(change.channels)};
}

Result<TrialEnvironment> make_trial(Context& context,
                                    SolvedTrial solved,
                                    const fs::path& prefix,
                                    const fs::path& seen) {
    TrialEnvironment made;
    const auto store = open_store(context);
    GPKG_TRY(made.unpacked, make_available(context, store, solved.records, solved.channels, {}));
    Transaction transaction;
    transaction.prefix = prefix;
    transaction.named_prefix = seen;
    for (std::size_t i = 0; i < solved.records.size(); ++i)
        transaction.link.push_back({solved.records[i], made.unpacked[i], {}});
    transaction.history.command = context.command_line;
    transaction.history.tool_version = GPKG_VERSION;
    TransactionOptions options;
    options.link = LinkMethod::Copy;  // scripts may write into any file of it
    options.root_prefix = context.config.root_prefix.value;
    options.cancelled = [&] { return context.stop.stop_requested(); };
    GPKG_CHECK(settle_link_scripts(context, {}, transaction, options));
    GPKG_CHECK(execute(transaction, options));
    made.records = std::move(solved.records);
    return made;
}

}  // namespace gpkg::cli
