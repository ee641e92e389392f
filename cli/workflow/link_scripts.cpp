#include "cli/workflow/link_scripts.hpp"

#include "cli/workflow/confirm.hpp"
#include "libcore/env/link_scripts.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpkg::cli {
namespace {

std::string described(const FoundLinkScript& script) {
    return fmt::format(
        "{}: {} ({})", script.distribution, script.file.native(), human_size(script.size));
}

class Settling {
public:
    Settling(Context& context, const ChangeOptions& options)
        : context_(context),
          options_(options),
          policy_(options.no_scripts ? LinkScriptPolicy::Off : context.config.link_scripts.value) {}

    /// Changes `state` only by what is allowed anew.
    Result<void> operator()(const std::vector<FoundLinkScript>& scripts,
                            GpkgState& state,
                            TransactionOptions& how);
    bool runs_all() const { return policy_ == LinkScriptPolicy::Run; }

private:
    bool is_named(const FoundLinkScript& script) const {
        const auto& names = options_.allow_scripts;
        return std::find(names.begin(), names.end(), script.package) != names.end();
    }
    Result<bool> may_run(const FoundLinkScript& script, GpkgState& state);

    Context& context_;
    const ChangeOptions& options_;
    LinkScriptPolicy policy_;
};

Result<bool> Settling::may_run(const FoundLinkScript& script, GpkgState& state) {
    if (policy_ == LinkScriptPolicy::Off) return false;
    const auto known = state.link_scripts.find(script.package);
    if (known != state.link_scripts.end() &&
        std::find(known->second.begin(), known->second.end(), script.sha256) != known->second.end())
        return true;
    bool allowed = is_named(script);
    if (!allowed && policy_ == LinkScriptPolicy::Ask) {
        // -y and always_yes do not allow programs that nobody has looked at.
        if (!context_.out.can_ask() || context_.out.yes() || !options_.asks)
            return fail(
                ErrorKind::Usage,
                fmt::format("{}: this link script needs permission to run; nothing was changed",
                            described(script)),
                fmt::format("to run it: --allow-scripts {}; to skip it: --no-scripts",
                            script.package));
        const auto answer = context_.out.ask_yes_no(
            fmt::format("{}\n  {}: allow it?",
                        described(script),
                        script.runs_now ? "runs now" : "runs when the package is removed"),
            false,
            context_.stop);
        if (!answer) return cancelled();
        allowed = *answer;
    }
    if (allowed) state.link_scripts[script.package].push_back(script.sha256);
    return allowed;
}

Result<void> Settling::operator()(const std::vector<FoundLinkScript>& scripts,
                                  GpkgState& state,
                                  TransactionOptions& how) {
    std::vector<const FoundLinkScript*> refused;
    for (const auto& script : scripts) {
        GPKG_TRY(const bool allowed, may_run(script, state));
        if (!allowed && script.runs_now) refused.push_back(&script);
    }
    for (const auto* script : refused) {
        how.refused_scripts.insert(script->path);
        context_.out.note(fmt::format("note: link script not run: {}", described(*script)));
    }
    return {};
}

/// Of packages that leave for good.
void forget_gone(const Transaction& transaction, GpkgState& state) {
    for (const auto& record : transaction.unlink) {
        const auto& link = transaction.link;
        const bool stays = std::any_of(link.begin(), link.end(), [&](const auto& request) {
            return request.record.name == record.package.name;
        });
        if (!stays) state.link_scripts.erase(record.package.name);
    }
}

Result<GpkgState> state_in(const fs::path& prefix) {
    if (!Prefix::is_environment(prefix)) return GpkgState{};
    GPKG_TRY(const auto opened, Prefix::open(prefix));
    return opened.state();
}

}  // namespace

Result<void> settle_link_scripts(Context& context,
                                 const ChangeOptions& options,
                                 Transaction& transaction,
                                 TransactionOptions& how) {
    Settling settling(context, options);
    if (settling.runs_all()) return {};
    GPKG_TRY(const auto scripts, find_link_scripts(transaction));
    GPKG_TRY(const auto before, state_in(transaction.prefix));
    auto state = transaction.state.value_or(before);
    GPKG_CHECK(settling(scripts, state, how));
    forget_gone(transaction, state);
    if (state != before) transaction.state = std::move(state);
    return {};
}

Result<void> settle_link_scripts(Context& context,
                                 const ChangeOptions& options,
                                 const fs::path& prefix,
                                 TransactionOptions& how) {
    Settling settling(context, options);
    if (settling.runs_all()) return {};
    GPKG_TRY(const auto scripts, find_link_scripts(prefix));
    GPKG_TRY(auto state, state_in(prefix));
    return settling(scripts, state, how);
}

}  // namespace gpkg::cli
