#include "libcore/asking/present.hpp"

#include "libcore/asking/earlier_wishes.hpp"

#include <utility>

namespace gpkg {

Result<Present> look_at(const fs::path& path) {
    Present present;
    if (path.empty() || !Prefix::is_environment(path)) return present;
    GPKG_TRY(const auto prefix, Prefix::open(path));
    GPKG_TRY(present.records, prefix.records());
    GPKG_TRY(present.state, prefix.state());
    present.on_disk = present.state;
    GPKG_TRY(const auto history, prefix.history());
    present.wishes = wishes_in(history);
    std::erase_if(present.wishes, [&](const MatchSpec& wish) {
        // One with a condition asks for nothing where that does not hold.
        return !wish.when && find_record(present.records, wish.name) == nullptr;
    });
    if (present.wishes.empty()) present.leaves = leaves_of(present.records);
    return present;
}

}  // namespace gpkg
