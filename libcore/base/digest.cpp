#include "libcore/base/digest.hpp"

#include <algorithm>
#include <cassert>
#include <cctype>
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

bool is_hex(std::string_view text, std::size_t length) {
    return text.size() == length &&
           std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isxdigit(c); });
}

}  // namespace gpkg
