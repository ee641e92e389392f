#include "cli/workflow/signing.hpp"

#include <charconv>
#include <fmt/format.h>

namespace gpkg::cli {

Result<SignKeys> read_sign_keys(const Context& context, const std::vector<std::string>& files) {
    SignKeys keys;
    keys.reserve(files.size());
    for (const auto& file : files) {
        GPKG_TRY(auto key, SigningKey::read(absolute_path(file, context.home)));
        keys.push_back(std::make_shared<const SigningKey>(std::move(key)));
    }
    return keys;
}

Result<std::chrono::seconds> parse_lifetime(const std::string& text) {
    constexpr std::int64_t kMost = 100'000;
    std::int64_t count = 0;
    const auto* end = text.data() + text.size();
    const auto [rest, code] = std::from_chars(text.data(), end, count);
    const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
    if (code == std::errc{} && count > 0 && count <= kMost) {
        if (unit == "h") return std::chrono::hours(count);
        if (unit == "d") return std::chrono::days(count);
        if (unit == "w") return std::chrono::weeks(count);
    }
    return fail(ErrorKind::Usage, fmt::format("{}: expected a time such as 30d, 12h or 2w", text));
}

Result<void> set_signing(const Context& context,
                         const SigningWords& words,
                         IndexerOptions& options) {
    GPKG_TRY(options.sign_keys, read_sign_keys(context, words.keys));
    if (words.expires.empty()) return {};
    GPKG_TRY(options.signed_for, parse_lifetime(words.expires));
    return {};
}

}  // namespace gpkg::cli
