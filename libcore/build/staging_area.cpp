#include "libcore/build/staging_area.hpp"

#include "libcore/build/build_place.hpp"
#include "libcore/build/output_build.hpp"

#include <fmt/format.h>
#include <tuple>
#include <utility>

namespace gpkg {

StagingArea::~StagingArea() {
    for (const auto& [name, entry] : entries_) std::ignore = remove_tree(entry.folder);
}

Result<const StagedOutput*> StagingArea::base_of(const RenderedOutput& output) {
    if (!output.inherited) return nullptr;
    const auto& inherited = *output.inherited;
    const auto name = build_name(recipe_, inherited);
    auto found = entries_.find(name);
    if (found == entries_.end()) {
        GPKG_TRY(const auto* base, base_of(inherited));
        const auto folder = options_.build_root() / "staged" / name;
        GPKG_CHECK(make_folders(folder.parent_path()));
        auto staged = stage_output(recipe_, inherited, base, folder, options_);
        found = entries_.emplace(name, Entry{folder, std::move(staged), false}).first;
    }
    auto& [place, staged, is_told] = found->second;
    if (staged) return &*staged;
    // At length once, for the first of those that inherit it.
    if (std::exchange(is_told, true))
        return fail(staged.error().kind, fmt::format("inherits {}, which failed", inherited.name));
    return pass(staged.error());
}

}  // namespace gpkg
