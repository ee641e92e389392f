#pragma once

// Checksums, fed piece by piece or over a whole text. Printed as lowercase hex.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace gpkg {

enum class DigestKind { Md5, Sha1, Sha256 };

/// A checksum in the making.
class Hasher {
public:
    explicit Hasher(DigestKind kind);
    Hasher(const Hasher& other);
    Hasher(Hasher&&) noexcept;
    Hasher& operator=(Hasher&&) noexcept;
    ~Hasher();

    void update(std::string_view bytes);
    /// The digest in lowercase hex; the hasher is spent afterwards.
    std::string hex() &&;

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// The digest of `bytes` in lowercase hex.
std::string hex_digest(DigestKind kind, std::string_view bytes);

std::string to_hex(std::span<const std::uint8_t> bytes);

/// Fills `raw` with the bytes that `hex` spells; false unless it has two hex digits for each.
bool from_hex(std::string_view hex, std::span<char> raw);

/// True for exactly `length` lowercase or uppercase hex digits (32 for MD5, 64 for SHA-256).
bool is_hex(std::string_view text, std::size_t length);

}  // namespace gpkg
