#pragma once

// Licences of recipes are SPDX expressions (CEP 14, `about.license`; SPDX 2.3, annex D).

#include <optional>
#include <string>
#include <string_view>

namespace gpkg {

struct LicenseFault {
    std::string message;
    std::string hint;  ///< what to write instead
};

/// What keeps `text` from being an SPDX licence expression: "MIT", "Apache-2.0 WITH
/// LLVM-exception",
/// "(GPL-2.0-or-later OR MIT) AND LicenseRef-ours". Names count without regard to case, as SPDX has
/// it; deprecated ones count.
std::optional<LicenseFault> license_fault(std::string_view text);

}  // namespace gpkg
