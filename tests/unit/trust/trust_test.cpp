// Keys and signatures beside RFC 8032 and RFC 8410; roots and statements.
#include "libcore/trust/index_statement.hpp"
#include "tests/support/catch.hpp"

#include <sys/stat.h>

using namespace gpkg;

namespace trust_test {
namespace {

/// The private key of RFC 8032's test 2, as PEM.
constexpr auto kPem =
    "-----BEGIN PRIVATE KEY-----\n"
    "MC4CAQAwBQYDK2VwBCIEIEzNCJso/5banbbDRuwRTg9bijGfNaumJNqM9u1PuKb7\n"
    "-----END PRIVATE KEY-----\n";
const std::string kPublic = "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c";
const std::string kSignature =
    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
    "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00";
/// The same with the order of the group added to its second half.
const std::string kMalleated =
    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
    "f52db7415978abc61b2c2eb6aeebfca0387b2eaeb4302aeeb00d291612bb0c10";

struct Folder {
    TemporaryFolder folder = TemporaryFolder::make(fs::temp_directory_path()).value();
    fs::path write(const std::string& text, unsigned mode = 0600) const {
        const auto file = folder.path() / "key";
        REQUIRE(write_file_atomically(file, text));
        REQUIRE(::chmod(file.c_str(), mode) == 0);
        return file;
    }
};

std::optional<TrustFault> fault_of(const Result<ChannelRoot>& result) {
    return result ? std::nullopt : trust_fault(result.error());
}

/// A root of these keys, signed by those.
std::string root_of(std::uint64_t version,
                    const SigningRole& role,
                    const std::vector<const SigningKey*>& signers) {
    ChannelRoot root;
    root.version = version;
    root.root = root.index = role;
    SignedText text(root.to_text());
    for (const auto* key : signers) text.sign(*key);
    return text.to_json();
}

}  // namespace

TEST_CASE("signatures are those of RFC 8032", "[trust]") {
    const Folder folder;
    const auto key = SigningKey::read(folder.write(kPem));
    REQUIRE(key);
    CHECK(key->public_key() == kPublic);
    CHECK(key->sign("\x72") == kSignature);
    CHECK(is_signed_by(kPublic, "\x72", kSignature));
    CHECK_FALSE(is_signed_by(kPublic, "\x73", kSignature));
    CHECK_FALSE(is_signed_by(kPublic, "", kSignature));
    CHECK_FALSE(is_signed_by(kPublic, "\x72", kMalleated));
    CHECK_FALSE(is_signed_by(kPublic, "\x72", kSignature.substr(2)));
    CHECK_FALSE(is_signed_by(kPublic.substr(2), "\x72", kSignature));
    CHECK_FALSE(is_signed_by("no key", "\x72", kSignature));
}

TEST_CASE("the example key of RFC 8410 is read", "[trust]") {
    const Folder folder;
    const auto key = SigningKey::read(
        folder.write("-----BEGIN PRIVATE KEY-----\n"
                     "MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n"
                     "-----END PRIVATE KEY-----\n"));
    REQUIRE(key);
    CHECK(key->public_key() == "19bf44096984cdfe8541bac167dc3b96c85086aa30b6b6cb0c5c38ad703166e1");
}

TEST_CASE("private keys are private, and nothing else is one", "[trust]") {
    const Folder folder;
    for (const auto mode : {0640U, 0604U, 0610U, 0602U}) {
        const auto key = SigningKey::read(folder.write(kPem, mode));
        REQUIRE_FALSE(key);
        CHECK(key.error().kind == ErrorKind::Conflict);
    }
    CHECK(SigningKey::read(folder.write(kPem, 0400)));
    const std::string pem = kPem;
    auto other_kind = pem;
    other_kind.replace(pem.find("K2Vw"), 4, "K2Vx");
    for (const auto& text :
         {std::string(), pem.substr(0, 50), pem.substr(10), other_kind, std::string(10'000, 'A')}) {
        const auto key = SigningKey::read(folder.write(text));
        REQUIRE_FALSE(key);
        CHECK(key.error().kind == ErrorKind::Parse);
    }
    const auto made = SigningKey::generate();
    const auto file = folder.folder.path() / "new";
    REQUIRE(made->write(file));
    struct stat status {};
    REQUIRE(::stat(file.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777U) == 0600U);
    CHECK(SigningKey::read(file)->public_key() == made->public_key());
    CHECK(made->write(file).error().kind == ErrorKind::Conflict);
    CHECK(SigningKey::generate()->public_key() != made->public_key());
}

TEST_CASE("a signature counts once, and only by a key of the role", "[trust]") {
    const auto a = *SigningKey::generate();
    const auto b = *SigningKey::generate();
    const auto c = *SigningKey::generate();
    SignedText text("{\"x\": \"\\u00e9 \xc3\xa9 \\/\"}");
    text.sign(a);
    text.sign(a);
    text.sign(c);
    const auto read = SignedText::parse(text.to_json(), "file");
    REQUIRE(read);
    CHECK(read->text() == text.text());
    const SigningRole one{{a.public_key(), b.public_key()}, 1};
    const SigningRole two{{a.public_key(), b.public_key()}, 2};
    CHECK(read->verify(one, "file"));
    CHECK(trust_fault(read->verify(two, "file").error()) == TrustFault::TooFew);
    CHECK(trust_fault(read->verify({{b.public_key()}, 1}, "file").error()) == TrustFault::WrongKey);
    text.sign(b);
    CHECK(text.verify(two, "file"));
    // The same signatures under another text.
    auto other = text.to_json();
    other.replace(other.find("\\\"x\\\""), 5, "\\\"y\\\"");
    const auto changed = SignedText::parse(other, "file");
    REQUIRE(changed);
    CHECK(trust_fault(changed->verify(one, "file").error()) == TrustFault::Tampered);
}

TEST_CASE("a key that is listed twice counts once", "[trust]") {
    const auto a = *SigningKey::generate();
    const SigningRole twice{{a.public_key(), a.public_key()}, 2};
    const auto bytes = root_of(1, twice, {&a});
    const auto text = SignedText::parse(bytes, "root")->text();
    CHECK(fault_of(ChannelRoot::parse(text, "root")) == TrustFault::Malformed);
}

TEST_CASE("roots follow each other by the keys of both", "[trust]") {
    const auto a = *SigningKey::generate();
    const auto b = *SigningKey::generate();
    const std::vector<std::string> pinned{a.public_key()};
    const auto first = trusted_root(pinned, "keys");
    REQUIRE(first);
    CHECK(first->version == 0);
    const SigningRole of_b{{b.public_key()}, 1};
    CHECK(next_root(*first, root_of(1, of_b, {&a, &b}), "root"));
    CHECK(fault_of(next_root(*first, root_of(1, of_b, {&b}), "root")) == TrustFault::WrongKey);
    CHECK(fault_of(next_root(*first, root_of(1, of_b, {&a}), "root")) == TrustFault::WrongKey);
    CHECK(fault_of(next_root(*first, root_of(2, of_b, {&a, &b}), "root")) ==
          TrustFault::RolledBack);
    CHECK(fault_of(next_root(*first, root_of(1, {{b.public_key()}, 2}, {&a, &b}), "root")) ==
          TrustFault::Malformed);
    CHECK(fault_of(next_root(*first, root_of(1, {{b.public_key()}, 0}, {&a, &b}), "root")) ==
          TrustFault::Malformed);
    // A statement is no root.
    SignedText statement(
        IndexStatement{.version = 1, .root = 0, .made = 1, .expires = 2, .subdirs = {}}.to_text());
    statement.sign(a);
    CHECK(fault_of(next_root(*first, statement.to_json(), "root")) == TrustFault::Malformed);
}

TEST_CASE("statements keep what they say, and have their time", "[trust]") {
    const auto a = *SigningKey::generate();
    const std::vector<std::string> pinned{a.public_key()};
    const auto root = *trusted_root(pinned, "keys");
    IndexStatement said{
        .version = 7, .root = 3, .made = 1'800'000'000, .expires = 1'800'003'600, .subdirs = {}};
    said.subdirs["noarch"]["repodata.json"] = {{12, std::string(64, 'a')},
                                               {13, std::string(64, 'b')}};
    SignedText text(said.to_text());
    text.sign(a);
    const auto read = read_statement(root, text.to_json(), "file");
    REQUIRE(read);
    CHECK(read->version == 7);
    CHECK(read->root == 3);
    CHECK(read->made == said.made);
    CHECK(read->expires == said.expires);
    CHECK(read->subdirs == said.subdirs);
    CHECK(lists(*read->files_of("noarch"), "repodata.json", std::string(64, 'b')));
    CHECK_FALSE(lists(*read->files_of("noarch"), "repodata.json", std::string(64, 'c')));
    CHECK_FALSE(lists(*read->files_of("noarch"), "repodata.json.zst", std::string(64, 'b')));
    CHECK(read->files_of("linux-64") == nullptr);
    CHECK(read->check_time(said.expires - 1, "file"));
    CHECK(trust_fault(read->check_time(said.expires, "file").error()) == TrustFault::Expired);
    CHECK(read->check_time(said.made - 3600, "file"));
    CHECK(trust_fault(read->check_time(said.made - 90'000, "file").error()) == TrustFault::Clock);
    // A root is no statement, though the same key signs both.
    CHECK(trust_fault(read_statement(root, root_of(1, root.root, {&a}), "file").error()) ==
          TrustFault::Malformed);
}

}  // namespace trust_test
