#include "libcore/base/byte_size.hpp"

#include "libcore/base/text.hpp"

#include <charconv>
#include <cmath>
#include <fmt/format.h>

namespace gpkg {
namespace {

/// By how much a unit multiplies; 0 where there is no such unit.
double factor_of(std::string_view unit) {
    constexpr std::string_view kLetters = "kmgt";
    if (unit.ends_with('b')) unit.remove_suffix(1);
    if (unit.empty()) return 1;
    const auto power = kLetters.find(unit.front());
    unit.remove_prefix(1);
    if (power == std::string_view::npos || (!unit.empty() && unit != "i")) return 0;
    return std::pow(unit.empty() ? 1000 : 1024, static_cast<double>(power + 1));
}

}  // namespace

Result<std::uint64_t> parse_byte_size(std::string_view text) {
    const auto lower = to_lower(trim(text));
    const auto digits = std::min(lower.find_first_not_of("0123456789."), lower.size());
    double number = 0;
    const auto [end, code] = std::from_chars(lower.data(), lower.data() + digits, number);
    const double factor = factor_of(trim(std::string_view(lower).substr(digits)));
    constexpr double kMost = 1e18;
    if (code != std::errc() || end != lower.data() + digits || factor == 0 || number * factor < 1 ||
        number * factor > kMost)
        return fail(ErrorKind::Usage,
                    std::string(text) + ": not a size",
                    "use a size such as 3GB, 1.5GiB, 700MB or 123456");
    return static_cast<std::uint64_t>(std::llround(number * factor));
}

std::string byte_size_text(std::uint64_t bytes) {
    if (bytes < 1000) return fmt::format("{} B", bytes);
    double value = static_cast<double>(bytes);
    for (const auto* unit : {"kB", "MB", "GB", "TB"}) {
        value /= 1000;
        if (value < 999.5) return fmt::format("{:.{}f} {}", value, value < 9.95 ? 1 : 0, unit);
    }
    return fmt::format("{:.0f} PB", value / 1000);
}

}  // namespace gpkg
