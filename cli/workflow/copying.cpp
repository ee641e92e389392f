#include "cli/workflow/copying.hpp"

#include "cli/workflow/link_scripts.hpp"
#include "cli/workflow/removal.hpp"
#include "cli/workflow/sources.hpp"
#include "cli/workflow/wishes.hpp"
#include "libcore/env/environments.hpp"
#include "libcore/env/generation.hpp"
#include "libcore/env/prefix.hpp"
#include "libcore/env/transaction.hpp"
#include "libcore/env/unowned_files.hpp"

#include <fmt/format.h>

namespace gpkg::cli {
namespace {

/// The copy's own first generation and history tell of a copy: those of the original take their
/// place.
Result<void> take_over_history(const fs::path& from, const fs::path& to) {
    const auto source = from / "conda-meta";
    const auto target = to / "conda-meta";
    std::error_code code;
    std::vector<std::string> files{"history", "frozen"};
    GPKG_TRY(const auto own, generation_numbers(to));
    GPKG_TRY(const auto numbers, generation_numbers(from));
    for (const auto number : numbers) files.push_back(generation_file(number));
    for (const auto& file : files) {
        auto bytes = read_file(source / file);
        if (!bytes && bytes.error().kind == ErrorKind::NotFound) continue;
        if (!bytes) return pass(std::move(bytes).error());
        GPKG_CHECK(write_file_atomically(target / file, *bytes));
    }
    for (const auto number : own) {
        const auto file = generation_file(number);
        if (!fs::exists(source / file, code)) fs::remove(target / file, code);
    }
    return {};
}

}  // namespace

Result<void> check_free(const Context& context, const fs::path& prefix) {
    std::error_code code;
    if (Prefix::is_environment(prefix))
        return fail(ErrorKind::Conflict,
                    fmt::format("{}: the environment exists already", prefix.native()),
                    "gpkg install adds to it; gpkg remove --all takes it away");
    if (fs::exists(fs::symlink_status(prefix, code)) &&
        !(fs::is_directory(prefix, code) && fs::is_empty(prefix, code)))
        return fail(ErrorKind::Conflict,
                    fmt::format("{}: exists and is not an empty folder", prefix.native()),
                    "choose another place for the environment");
    const auto store = context.config.package_store().lexically_normal().native() + "/";
    if (prefix.lexically_normal().native().starts_with(store))
        return fail(
            ErrorKind::Usage,
            fmt::format("{}: is in the package store, which gpkg clean empties", prefix.native()),
            "choose another place for the environment");
    return {};
}

Result<Change> copy_of(Context& context, const fs::path& original, const fs::path& prefix) {
    GPKG_TRY(const auto source, Prefix::open(original));
    GPKG_TRY(const auto installed, source.records());
    ExactRequest request;
    request.prefix = prefix;
    for (const auto& record : installed) request.records.push_back(record.package);
    request.requested = wishes_of(original);
    GPKG_TRY(request.variables, source.env_vars());
    GPKG_TRY(request.state, source.state());
    GPKG_TRY(request.channels, wanted_channels(context, {}));
    GPKG_TRY(auto change, exactly(std::move(request)));
    change.copies = original;
    return change;
}

Result<void> copy_other_files(Context& context,
                              const fs::path& from,
                              const fs::path& to,
                              bool takes_over) {
    if (takes_over) GPKG_CHECK(take_over_history(from, to));
    GPKG_TRY(const auto prefix, Prefix::open(from));
    GPKG_TRY(const auto records, prefix.records());
    GPKG_TRY(auto files, unowned_files(from, records));
    const std::string pins = "conda-meta/pinned";
    std::error_code code;
    if (fs::exists(from / pins, code)) files.push_back(pins);
    if (files.empty()) return {};
    GPKG_TRY(const auto binaries, copy_unowned(from, files, to, to));
    context.out.note(fmt::format("{} {} that belong{} to no package {} copied",
                                 files.size(),
                                 files.size() == 1 ? "file" : "files",
                                 files.size() == 1 ? "s" : "",
                                 files.size() == 1 ? "was" : "were"));
    for (const auto& file : binaries)
        context.out.warn(
            fmt::format("{}: is a binary that names {}, and goes on to", file, from.native()));
    return {};
}

Result<int> rename_environment(Context& context,
                               const fs::path& from,
                               const fs::path& to,
                               const ChangeOptions& options) {
    GPKG_CHECK(check_removable(context, from));
    if (!options.override_frozen) GPKG_CHECK(check_not_frozen(from));
    GPKG_CHECK(check_free(context, to));
    if (to.native().starts_with(from.native() + "/"))
        return fail(ErrorKind::Usage, fmt::format("{}: is inside {}", to.native(), from.native()));
    GPKG_TRY(auto change, copy_of(context, from, to));
    change.takes_over = true;
    auto how = transaction_options(context, options);
    if (!options.dry_run) GPKG_CHECK(settle_link_scripts(context, options, from, how));
    GPKG_TRY(const int status, carry_out(context, std::move(change), options));
    if (options.dry_run) return status;
    auto removed = remove_prefix(from, how);
    if (removed) removed = unregister_environment(from, context.home);
    if (!removed)
        return pass(std::move(removed).error().while_doing(
            fmt::format("{} is complete, and the old environment is still there", to.native())));
    return status;
}

}  // namespace gpkg::cli
