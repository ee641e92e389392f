#include "libcore/trust/channel_root.hpp"

#include "libcore/base/json_text.hpp"
#include "libcore/base/text.hpp"
#include "libcore/trust/fields_internal.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gpkg {
namespace {

constexpr std::string_view kRootType = "gpkg-channel-root";
constexpr std::size_t kMostKeys = 64;

Result<SigningRole> read_role(const trust_fields::Object& from, std::string_view name) {
    SigningRole role;
    GPKG_TRY(const auto object, from.object(name));
    GPKG_TRY(role.threshold, object.number("threshold"));
    GPKG_TRY(const auto keys, object.list("keys"));
    for (const auto item : keys) {
        std::string_view key;
        if (item.get(key) != simdjson::SUCCESS || !is_public_key(key))
            return from.malformed(fmt::format("'{}' has an invalid key", name));
        // Twice the same would count twice towards the threshold.
        if (!role.has(to_lower(key))) role.keys.push_back(to_lower(key));
    }
    if (role.threshold == 0 || role.threshold > role.keys.size() || role.keys.size() > kMostKeys)
        return from.malformed(
            fmt::format("'{}' requires {} of {} keys", name, role.threshold, role.keys.size()));
    return role;
}

nlohmann::ordered_json to_json(const SigningRole& role) {
    return {{"keys", role.keys}, {"threshold", role.threshold}};
}

}  // namespace

std::string root_file(std::uint64_t version) { return fmt::format("trust/root.{}.json", version); }

std::string ChannelRoot::to_text() const {
    nlohmann::ordered_json json;
    json["type"] = kRootType;
    json["format"] = 1;
    json["version"] = version;
    if (expires != 0) json["expires"] = trust_fields::time_text(expires);
    json["root"] = to_json(root);
    json["index"] = to_json(index);
    return json_text(json);
}

Result<ChannelRoot> ChannelRoot::parse(std::string_view text, const std::string& what) {
    simdjson::dom::parser parser;
    const simdjson::padded_string padded(text);
    trust_fields::Object object(what);
    GPKG_CHECK(object.open(parser, padded));
    GPKG_CHECK(object.check_type(kRootType));
    ChannelRoot root;
    GPKG_TRY(root.version, object.number("version"));
    if (root.version == 0) return object.malformed("has version 0; the first root has version 1");
    GPKG_TRY(root.root, read_role(object, "root"));
    GPKG_TRY(root.index, read_role(object, "index"));
    if (!object.has("expires")) return root;
    GPKG_TRY(root.expires, object.time("expires"));
    return root;
}

Result<void> ChannelRoot::check_not_expired(std::int64_t now, const std::string& what) const {
    if (expires == 0 || now < expires) return {};
    return distrust(TrustFault::Expired,
                    fmt::format("{}: the channel's keys expired at {} (now: {})",
                                what,
                                trust_fields::time_text(expires),
                                trust_fields::time_text(now)),
                    "check the clock; otherwise the channel's operator must sign a new root");
}

Result<ChannelRoot> trusted_root(std::span<const std::string> keys_or_file,
                                 const std::string& what) {
    const auto is_key = [](const auto& text) { return is_public_key(text); };
    if (keys_or_file.empty()) return fail(ErrorKind::Parse, fmt::format("{}: no key", what));
    if (std::all_of(keys_or_file.begin(), keys_or_file.end(), is_key)) {
        ChannelRoot root;
        for (const auto& key : keys_or_file) root.root.keys.push_back(to_lower(key));
        root.index = root.root;
        return root;
    }
    if (keys_or_file.size() > 1)
        return fail(
            ErrorKind::Parse,
            fmt::format(
                "{}: expected public keys (64 hex digits each) or the file of a root, found {}",
                what,
                join_some(keys_or_file, "and")));
    const fs::path file = keys_or_file.front();
    auto bytes = read_file(file, kLargestRoot);
    if (!bytes && bytes.error().kind == ErrorKind::NotFound)
        return fail(
            ErrorKind::NotFound,
            fmt::format("{}: '{}' is neither a public key (64 hex digits) nor the file of a root",
                        what,
                        file.native()));
    if (!bytes) return pass(std::move(bytes).error());
    GPKG_TRY(const auto text, SignedText::parse(*bytes, file.native()));
    GPKG_TRY(auto root, ChannelRoot::parse(text.text(), file.native()));
    // That it is the right one, the user says; that it is whole, its own keys.
    GPKG_CHECK(text.verify(root.root, file.native()));
    return root;
}

Result<ChannelRoot> next_root(const ChannelRoot& current,
                              std::string_view bytes,
                              const std::string& what) {
    GPKG_TRY(const auto text, SignedText::parse(bytes, what));
    GPKG_CHECK(text.verify(current.root, what));
    GPKG_TRY(auto next, ChannelRoot::parse(text.text(), what));
    if (next.version != current.version + 1)
        return distrust(TrustFault::RolledBack,
                        fmt::format("{}: is root {} of the channel, expected root {}",
                                    what,
                                    next.version,
                                    current.version + 1));
    GPKG_CHECK(text.verify(next.root, what));
    return next;
}

}  // namespace gpkg
