#include "libcore/trust/signing_key.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/base/text.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <nettle/base64.h>
#include <nettle/eddsa.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gpkg {
namespace {

constexpr std::string_view kHead = "-----BEGIN PRIVATE KEY-----\n";
constexpr std::string_view kFoot = "-----END PRIVATE KEY-----\n";
/// PKCS #8 of an Ed25519 key, but for the key itself, which ends it.
constexpr auto kDer = std::to_array<std::uint8_t>({0x30,
                                                   0x2e,
                                                   0x02,
                                                   0x01,
                                                   0x00,
                                                   0x30,
                                                   0x05,
                                                   0x06,
                                                   0x03,
                                                   0x2b,
                                                   0x65,
                                                   0x70,
                                                   0x04,
                                                   0x22,
                                                   0x04,
                                                   0x20});
constexpr std::size_t kPacked = kDer.size() + ED25519_KEY_SIZE;
constexpr std::size_t kLongestFile = 4096;

using Bytes = std::array<std::uint8_t, kPacked>;

tl::unexpected<Error> not_a_key(const fs::path& file) {
    return fail(ErrorKind::Parse,
                fmt::format("{}: not an Ed25519 private key in PEM format", file.native()),
                "to create one: gpkg keys generate FILE");
}

/// The bytes between head and foot; false where they are not as many as a key has.
bool decode(std::string_view pem, Bytes& packed) {
    const auto from = pem.find(kHead);
    if (from == std::string_view::npos) return false;
    const auto body = pem.substr(from + kHead.size());
    const auto end = body.find(kFoot.substr(0, kFoot.size() - 1));
    if (end == std::string_view::npos) return false;
    base64_decode_ctx context{};
    base64_decode_init(&context);
    std::array<std::uint8_t, kLongestFile> raw{};
    std::size_t size = raw.size();
    const bool sound = base64_decode_update(&context, &size, raw.data(), end, body.data()) == 1 &&
                       base64_decode_final(&context) == 1 && size == packed.size();
    if (sound) std::copy_n(raw.begin(), packed.size(), packed.begin());
    explicit_bzero(raw.data(), raw.size());
    return sound;
}

Result<void> check_private(const Descriptor& opened, const fs::path& file) {
    struct stat status {};
    if (::fstat(opened.get(), &status) != 0) return pass(io_error(file, "read", errno));
    if ((status.st_mode & (S_IRWXG | S_IRWXO)) == 0) return {};
    return fail(ErrorKind::Conflict,
                fmt::format("{}: other users can read this private key (mode {:o})",
                            file.native(),
                            status.st_mode & 07777U),
                fmt::format("run chmod 600 {}, or create a new key if someone may have read it",
                            shell_word(file.native())));
}

template <std::size_t size>
bool from_hex_bytes(std::string_view hex, std::array<std::uint8_t, size>& bytes) {
    std::array<char, size> raw{};
    if (!from_hex(hex, raw)) return false;
    std::transform(
        raw.begin(), raw.end(), bytes.begin(), [](char c) { return static_cast<std::uint8_t>(c); });
    return true;
}

const std::uint8_t* bytes_of(std::string_view text) {
    return reinterpret_cast<const std::uint8_t*>(text.data());
}

}  // namespace

SigningKey::SigningKey(const Secret& secret) : secret_(secret) {
    std::array<std::uint8_t, ED25519_KEY_SIZE> key{};
    ed25519_sha512_public_key(key.data(), secret_.data());
    public_key_ = to_hex(key);
}

SigningKey::SigningKey(SigningKey&& other) noexcept
    : secret_(other.secret_), public_key_(std::move(other.public_key_)) {
    explicit_bzero(other.secret_.data(), other.secret_.size());
}

SigningKey::~SigningKey() { explicit_bzero(secret_.data(), secret_.size()); }

Result<SigningKey> SigningKey::generate() {
    Secret secret{};
    if (::getrandom(secret.data(), secret.size(), 0) != static_cast<ssize_t>(secret.size()))
        return fail(ErrorKind::Io, "cannot get random numbers for a key");
    SigningKey key(secret);
    explicit_bzero(secret.data(), secret.size());
    return key;
}

Result<SigningKey> SigningKey::read(const fs::path& file) {
    const Descriptor opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!opened) return pass(io_error(file, "open", errno));
    GPKG_CHECK(check_private(opened, file));
    std::array<char, kLongestFile> text{};
    const auto size = ::read(opened.get(), text.data(), text.size());
    if (size < 0) return pass(io_error(file, "read", errno));
    Bytes packed{};
    const bool sound = decode({text.data(), static_cast<std::size_t>(size)}, packed) &&
                       std::equal(kDer.begin(), kDer.end(), packed.begin());
    Secret secret{};
    std::copy_n(packed.begin() + kDer.size(), secret.size(), secret.begin());
    explicit_bzero(text.data(), text.size());
    explicit_bzero(packed.data(), packed.size());
    if (!sound) return not_a_key(file);
    SigningKey key(secret);
    explicit_bzero(secret.data(), secret.size());
    return key;
}

Result<void> SigningKey::write(const fs::path& file) const {
    Bytes packed{};
    std::copy(kDer.begin(), kDer.end(), packed.begin());
    std::copy(secret_.begin(), secret_.end(), packed.begin() + kDer.size());
    std::array<char, BASE64_ENCODE_RAW_LENGTH(kPacked)> body{};
    base64_encode_raw(body.data(), packed.size(), packed.data());
    const auto text =
        fmt::format("{}{}\n{}", kHead, std::string_view(body.data(), body.size()), kFoot);
    const Descriptor made(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!made && errno == EEXIST)
        return fail(ErrorKind::Conflict,
                    fmt::format("{}: already exists; keys are never overwritten", file.native()));
    if (!made) return pass(io_error(file, "make", errno));
    if (::write(made.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
        ::fsync(made.get()) != 0)
        return pass(io_error(file, "write", errno));
    return {};
}

std::string SigningKey::sign(std::string_view text) const {
    std::array<char, ED25519_KEY_SIZE> raw{};
    std::array<std::uint8_t, ED25519_KEY_SIZE> key{};
    (void)from_hex(public_key_, raw);
    std::copy(raw.begin(), raw.end(), key.begin());
    std::array<std::uint8_t, ED25519_SIGNATURE_SIZE> signature{};
    ed25519_sha512_sign(key.data(), secret_.data(), text.size(), bytes_of(text), signature.data());
    return to_hex(signature);
}

bool is_signed_by(std::string_view public_key, std::string_view text, std::string_view signature) {
    std::array<std::uint8_t, ED25519_KEY_SIZE> key{};
    std::array<std::uint8_t, ED25519_SIGNATURE_SIZE> raw{};
    return from_hex_bytes(public_key, key) && from_hex_bytes(signature, raw) &&
           ed25519_sha512_verify(key.data(), text.size(), bytes_of(text), raw.data()) == 1;
}

bool is_public_key(std::string_view text) {
    return is_hex(text, std::size_t{2} * ED25519_KEY_SIZE);
}

}  // namespace gpkg
