#include "libcore/base/digest.hpp"

#include <algorithm>
#include <array>
#include <nettle/nettle-meta.h>
#include <vector>

namespace gpkg {

struct Hasher::State {
    const nettle_hash& hash;
    std::vector<std::max_align_t> context;  ///< of the size that the kind of hash asks for
};

namespace {

const nettle_hash& hash_of(DigestKind kind) {
    switch (kind) {
    case DigestKind::Md5: return nettle_md5;
    case DigestKind::Sha1: return nettle_sha1;
    case DigestKind::Sha256: return nettle_sha256;
    }
    return nettle_sha256;
}

std::vector<std::max_align_t> room_for(const nettle_hash& hash) {
    constexpr auto kUnit = sizeof(std::max_align_t);
    return std::vector<std::max_align_t>((hash.context_size + kUnit - 1) / kUnit);
}

}  // namespace

Hasher::Hasher(DigestKind kind)
    : state_(std::make_unique<State>(State{hash_of(kind), room_for(hash_of(kind))})) {
    state_->hash.init(state_->context.data());
}
Hasher::Hasher(const Hasher& other) : state_(std::make_unique<State>(*other.state_)) {}
Hasher::Hasher(Hasher&&) noexcept = default;
Hasher& Hasher::operator=(Hasher&&) noexcept = default;
Hasher::~Hasher() = default;

void Hasher::update(std::string_view bytes) {
    state_->hash.update(
        state_->context.data(), bytes.size(), reinterpret_cast<const std::uint8_t*>(bytes.data()));
}

std::string Hasher::hex() && {
    std::vector<std::uint8_t> raw(state_->hash.digest_size);
    state_->hash.digest(state_->context.data(), raw.size(), raw.data());
    return to_hex(raw);
}

std::string hex_digest(DigestKind kind, std::string_view bytes) {
    Hasher hasher(kind);
    hasher.update(bytes);
    return std::move(hasher).hex();
}

std::string to_hex(std::span<const std::uint8_t> bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text;
    text.reserve(bytes.size() * 2);
    for (const auto byte : bytes) {
        text += kDigits[byte >> 4U];
        text += kDigits[byte & 15U];
    }
    return text;
}

namespace {

/// What each character is worth as a hex digit; 16 and more is none.
constexpr auto kHexValues = [] {
    std::array<std::uint8_t, 256> values{};
    values.fill(16);
    for (std::uint8_t i = 0; i < 10; ++i) values['0' + i] = i;
    for (std::uint8_t i = 10; i < 16; ++i) values['a' + i - 10] = values['A' + i - 10] = i;
    return values;
}();

unsigned value_of(char digit) { return kHexValues[static_cast<unsigned char>(digit)]; }

}  // namespace

bool is_hex(std::string_view text, std::size_t length) {
    return text.size() == length &&
           std::all_of(text.begin(), text.end(), [](char c) { return value_of(c) < 16; });
}

bool from_hex(std::string_view hex, std::span<char> raw) {
    if (hex.size() != 2 * raw.size()) return false;
    unsigned all = 0;
    for (std::size_t i = 0; i < raw.size(); ++i) {
        const unsigned high = value_of(hex[2 * i]);
        const unsigned low = value_of(hex[2 * i + 1]);
        all |= high | low;
        raw[i] = static_cast<char>(high << 4U | low);
    }
    return all < 16;
}

}  // namespace gpkg
