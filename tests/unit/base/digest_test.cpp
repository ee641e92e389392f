#include "libcore/base/digest.hpp"

#include "tests/support/catch.hpp"

using namespace gpkg;

TEST_CASE("digests of known texts", "[base]") {
    CHECK(hex_digest(DigestKind::Md5, "abc") == "900150983cd24fb0d6963f7d28e17f72");
    CHECK(hex_digest(DigestKind::Sha1, "abc") == "a9993e364706816aba3e25717850c26c9cd0d89d");
    CHECK(hex_digest(DigestKind::Sha256, "") ==
          "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST_CASE("a digest fed in pieces equals the digest of the whole", "[base]") {
    Hasher hasher(DigestKind::Sha256);
    hasher.update("a");
    hasher.update("");
    hasher.update("bc");
    const auto digest = std::move(hasher).hex();
    CHECK(digest == hex_digest(DigestKind::Sha256, "abc"));
}

TEST_CASE("hex of a given length", "[base]") {
    CHECK(is_hex("00ffAA", 6));
    CHECK_FALSE(is_hex("00ffAA", 5));
    CHECK_FALSE(is_hex("00ffAg", 6));
}
