#include "libcore/base/digest.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <openssl/evp.h>

namespace gpkg {

struct Hasher::State {
    struct Free {
        void operator()(EVP_MD_CTX* spent) const { EVP_MD_CTX_free(spent); }
    };
    std::unique_ptr<EVP_MD_CTX, Free> context;
};

namespace {

const EVP_MD* algorithm(DigestKind kind) {
    switch (kind) {
    case DigestKind::Md5: return EVP_md5();
    case DigestKind::Sha1: return EVP_sha1();
    case DigestKind::Sha256: return EVP_sha256();
    }
    return EVP_sha256();
}

}  // namespace

Hasher::Hasher(DigestKind kind) : state_(std::make_unique<State>()) {
    state_->context.reset(EVP_MD_CTX_new());
    [[maybe_unused]] const int ok =
        EVP_DigestInit_ex(state_->context.get(), algorithm(kind), nullptr);
    assert(ok == 1);
}
Hasher::Hasher(Hasher&&) noexcept = default;
Hasher& Hasher::operator=(Hasher&&) noexcept = default;
Hasher::~Hasher() = default;

void Hasher::update(std::string_view bytes) {
    EVP_DigestUpdate(state_->context.get(), bytes.data(), bytes.size());
}

std::string Hasher::hex() && {
    std::array<std::uint8_t, EVP_MAX_MD_SIZE> raw{};
    unsigned size = 0;
    EVP_DigestFinal_ex(state_->context.get(), raw.data(), &size);
    return to_hex(std::span(raw).first(size));
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
