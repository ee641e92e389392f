#pragma once

// Whether a value is that of the user who writes the module, and not one for all.

#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// Whether a script has words in it that tell who the user is without a variable that can be given
/// another value: UID, "$(id -u)", whoami.
bool asks_for_user(std::string_view script);

/// Whether one of `names` is in the value as a whole: "1000" in "/tmp/krb5cc_1000", not in "11000".
bool has_one_of(std::string_view value, const std::vector<std::string>& names);

}  // namespace gpkg
