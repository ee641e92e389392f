#include "libcore/index/index_record.hpp"

namespace gpkg {

void IndexRecord::clear() {
    name = version = build = md5 = sha256 = license = license_family = {};
    is_conda = true;
    is_v3 = false;
    noarch = Noarch::No;
    build_number = size = 0;
    timestamp = indexed_timestamp = 0;
    python_site_packages_path.reset();
    for (auto* list : {&depends, &constrains, &flags, &track_features}) list->clear();
    extras.clear();
}

}  // namespace gpkg
