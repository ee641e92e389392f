#include "libcore/trust/signed_text.hpp"

#include "libcore/base/json_text.hpp"
#include "libcore/base/text.hpp"
#include "libcore/trust/fields_internal.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>

namespace gpkg {
namespace {

/// Each costs a verification.
constexpr std::size_t kMostSignatures = 64;

}  // namespace

bool SigningRole::has(std::string_view key) const {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
}

Result<SignedText> SignedText::parse(std::string_view bytes, const std::string& what) {
    simdjson::dom::parser parser;
    const simdjson::padded_string padded(bytes);
    trust_fields::Object root(what);
    GPKG_CHECK(root.open(parser, padded));
    GPKG_TRY(auto text, root.text("signed"));
    SignedText file(std::move(text));
    GPKG_TRY(const auto list, root.list("signatures"));
    if (list.size() > kMostSignatures)
        return distrust(TrustFault::Malformed, fmt::format("{}: has too many signatures", what));
    for (const auto item : list) {
        trust_fields::Object one(what);
        GPKG_CHECK(one.open(item));
        GPKG_TRY(auto key, one.text("key"));
        GPKG_TRY(auto signature, one.text("signature"));
        file.signatures_.push_back({to_lower(key), std::move(signature)});
    }
    return file;
}

std::string SignedText::to_json() const {
    nlohmann::ordered_json json;
    json["signed"] = text_;
    json["signatures"] = nlohmann::ordered_json::array();
    for (const auto& one : signatures_)
        json["signatures"].push_back({{"key", one.key}, {"signature", one.signature}});
    return json_text(json, 1) + "\n";
}

std::vector<std::string> SignedText::keys() const {
    std::vector<std::string> keys;
    for (const auto& one : signatures_) keys.push_back(one.key);
    return keys;
}

void SignedText::sign(const SigningKey& key) {
    std::erase_if(signatures_, [&](const auto& one) { return one.key == key.public_key(); });
    signatures_.push_back({key.public_key(), key.sign(text_)});
}

Result<void> SignedText::verify(const SigningRole& role, const std::string& what) const {
    std::set<std::string_view> signers;
    std::vector<std::string> strangers;
    for (const auto& [key, signature] : signatures_) {
        if (!role.has(key)) {
            strangers.push_back(printable(key, 64));
            continue;
        }
        if (!is_signed_by(key, text_, signature))
            return distrust(
                TrustFault::Tampered,
                fmt::format("{}: was changed after it was signed with key {}", what, key));
        signers.insert(key);
    }
    if (signers.size() >= role.threshold) return {};
    if (!signers.empty())
        return distrust(
            TrustFault::TooFew,
            fmt::format(
                "{}: has {} of {} required signatures", what, signers.size(), role.threshold));
    return distrust(TrustFault::WrongKey,
                    strangers.empty() ? fmt::format("{}: not signed", what)
                                      : fmt::format("{}: signed by {}, {} trusted for this channel",
                                                    what,
                                                    join_some(strangers, "and"),
                                                    strangers.size() == 1   ? "which is not"
                                                    : strangers.size() == 2 ? "neither of which is"
                                                                            : "none of which is"),
                    "if the channel has new keys, get them from its operator and set trusted_keys");
}

}  // namespace gpkg
