#include "cli/workflow/trial.hpp"

#include "cli/workflow/change.hpp"
#include "cli/workflow/fetch.hpp"
#include "libcore/env/transaction.hpp"
#include "libcore/spec/match_spec.hpp"

namespace gpkg::cli {

Result<TrialEnvironment> make_trial(Context& context,
                                    const Sources& sources,
                                    const std::vector<std::string>& specs,
                                    const fs::path& prefix) {
    ChangeRequest request;
    request.prefix = prefix;
    request.accelerators.all = {AcceleratorChoice::Conda};  // what is built is the recipe's to say
    for (const auto& text : specs) {
        GPKG_TRY(auto spec, MatchSpec::parse(text));
        request.specs.push_back(std::move(spec));
    }
    GPKG_TRY(auto change, decide(context, sources, request));

    TrialEnvironment made;
    const auto store = open_store(context);
    GPKG_TRY(made.unpacked, make_available(context, store, change.link, change.channels, {}));
    Transaction transaction;
    transaction.prefix = prefix;
    for (std::size_t i = 0; i < change.link.size(); ++i)
        transaction.link.push_back({change.link[i], made.unpacked[i], {}});
    transaction.history.command = context.command_line;
    transaction.history.tool_version = GPKG_VERSION;
    TransactionOptions options;
    options.root_prefix = context.config.root_prefix.value;
    options.cancelled = [&] { return context.stop.stop_requested(); };
    GPKG_CHECK(execute(transaction, options));
    made.records = std::move(change.link);
    return made;
}

}  // namespace gpkg::cli
