#include "cli/workflow/signing.hpp"

#include "libcore/base/moment.hpp"
#include "libcore/base/text.hpp"

#include <fmt/format.h>

namespace gpkg::cli {

Result<SignKeys> read_sign_keys(const Context& context, const std::vector<std::string>& files) {
    SignKeys keys;
    keys.reserve(files.size());
    for (const auto& file : files) {
        const auto path = absolute_path(file, context.home);
        auto key = SigningKey::read(path);
        std::error_code code;
        if (!key && !fs::exists(path, code) && !code)
            key.error().hint = "to create a key: gpkg keys generate " + shell_word(file);
        if (!key) return pass(std::move(key).error());
        keys.push_back(std::make_shared<const SigningKey>(*std::move(key)));
    }
    return keys;
}

void report_signature(Context& context, const IndexSummary& summary) {
    if (!summary.signature) return;
    const auto& [keys, expires, replaced] = *summary.signature;
    constexpr std::size_t kDate = 10;  // "2026-12-28"
    context.out.print(fmt::format("signed with {}, expires {}",
                                  join_some(keys, "and", keys.size()),
                                  moment_text(expires * 1000).substr(0, kDate)));
    if (!replaced.empty())
        context.out.warn(
            fmt::format("the channel was signed with {} before; users who trust only that key "
                        "will refuse it (`gpkg keys root` names several keys)",
                        join_some(replaced, "and", replaced.size())));
}

Result<std::chrono::seconds> parse_lifetime(const std::string& text) {
    if (const auto lifetime = parse_duration(text)) return *lifetime;
    return fail(ErrorKind::Usage, fmt::format("{}: not a time; use 30d, 12h or 2w", text));
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
