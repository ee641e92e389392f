#pragma once

#include <string_view>

namespace gpkg::cli {

/// The commit that this program was built from, with its date: "d9d40ac12 2026-11-28". Empty where
/// the sources were not a git checkout.
std::string_view commit();

}  // namespace gpkg::cli
