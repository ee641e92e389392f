#pragma once

// Ed25519 (RFC 8032). Public keys and signatures are lowercase hex. A private key is a PEM file as
// `openssl genpkey -algorithm ed25519` writes it (RFC 8410), which nobody but its owner may read.

#include "libcore/base/error.hpp"
#include "libcore/fs/file.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace gpkg {

class SigningKey {
public:
    static Result<SigningKey> generate();
    /// Conflict when others may read the file.
    static Result<SigningKey> read(const fs::path& file);
    /// Never over a file that is there. Mode 600.
    Result<void> write(const fs::path& file) const;

    SigningKey(SigningKey&& other) noexcept;
    SigningKey(const SigningKey&) = delete;
    SigningKey& operator=(const SigningKey&) = delete;
    SigningKey& operator=(SigningKey&&) = delete;
    ~SigningKey();  ///< overwrites it in memory

    const std::string& public_key() const { return public_key_; }
    std::string sign(std::string_view text) const;

private:
    using Secret = std::array<std::uint8_t, 32>;
    explicit SigningKey(const Secret& secret);

    Secret secret_;
    std::string public_key_;
};

/// False also for what is no key or no signature.
bool is_signed_by(std::string_view public_key, std::string_view text, std::string_view signature);

/// Whether it is written as a public key: 64 hex digits.
bool is_public_key(std::string_view text);

}  // namespace gpkg
