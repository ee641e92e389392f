// CEP 27: what a publish attestation must say, and what it must not.
#include "libcore/trust/attestation.hpp"

#include "tests/support/catch.hpp"

#include <fmt/format.h>

using namespace gpkg;

namespace attestation_test {
namespace {

const std::string kSha256(64, 'a');
const std::string kName = "numpy-2.0.0-py312_0.conda";

std::string subject(const std::string& name, const std::string& digest) {
    return fmt::format(R"({{"name": "{}", "digest": {}}})", name, digest);
}

std::string statement(
    const std::string& subjects,
    const std::string& more = "",
    const std::string& type = "https://in-toto.io/Statement/v1",
    const std::string& predicate = "https://schemas.conda.org/attestations-publish-1.schema.json") {
    return fmt::format(R"({{"_type": "{}", "subject": {}, "predicateType": "{}"{}}})",
                       type,
                       subjects,
                       predicate,
                       more);
}

const std::string kDigest = R"({"sha256": ")" + kSha256 + "\"}";
const std::string kOne = "[" + subject(kName, kDigest) + "]";

/// "", or the word for what is wrong.
std::string fault(const std::string& text) {
    const auto read = Attestation::parse(text, "f");
    if (read) return "";
    REQUIRE(attestation_fault(read.error()));
    CHECK(read.error().message.starts_with("f: "));
    return std::string(to_string(*attestation_fault(read.error())));
}

}  // namespace

TEST_CASE("an attestation says what CEP 27 wants, and no more", "[trust]") {
    struct Row {
        std::string text, fault;
    };
    const auto channel = [](const std::string& url) {
        return fmt::format(R"(, "predicate": {{"targetChannel": {}}})", url);
    };
    const auto digest = [](const std::string& text) { return "[" + subject(kName, text) + "]"; };
    const std::vector<Row> rows{
        {statement(kOne), ""},
        {statement(kOne, R"(, "predicate": null)"), ""},
        {statement(kOne, R"(, "predicate": {})"), ""},
        {statement(kOne, channel(R"("https://prefix.dev/mine")")), ""},
        {statement("[" + subject("a-1-0.tar.bz2", kDigest) + "]"), ""},
        {statement(kOne, channel(R"("https://prefix.dev/mine/")")), "predicate"},
        {statement(kOne, channel(R"("mine")")), "predicate"},
        {statement(kOne, channel("7")), "predicate"},
        {statement(kOne, R"(, "predicate": [])"), "predicate"},
        {statement("[" + subject(kName, kDigest) + "," + subject(kName, kDigest) + "]"), "subject"},
        {statement("[]"), "subject"},
        {statement("{}"), "subject"},
        {statement("[" + subject("numpy-2.0.0-py3-none-any.whl", kDigest) + "]"), "subject"},
        {statement("[" + subject("linux-64/" + kName, kDigest) + "]"), "subject"},
        {statement(digest(R"({"sha256": ")" + kSha256 + R"(", "md5": "0"})")), "subject"},
        {statement(digest(R"({"sha512": ")" + kSha256 + "\"}")), "subject"},
        {statement(digest(R"({"sha256": "abc"})")), "subject"},
        {statement(digest("{}")), "subject"},
        {statement(kOne, "", "https://in-toto.io/Statement/v0.1"), "statement-type"},
        {statement(kOne, "", "https://in-toto.io/Statement/v1", "https://slsa.dev/provenance/v1"),
         "predicate-type"},
        {"", "malformed"},
        {"[]", "malformed"},
        {"{}", "malformed"},
        {R"({"mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json", "messageSignature": {}})",
         "malformed"},
    };
    for (const auto& row : rows) {
        CAPTURE(row.text);
        CHECK(fault(row.text) == row.fault);
    }
}

TEST_CASE("an attestation is found in its wrappings", "[trust]") {
    // A statement with the predicateType @TYPE.
    const std::string payload =
        "eyJfdHlwZSI6ICJodHRwczovL2luLXRvdG8uaW8vU3RhdGVtZW50L3YxIiwgInN1YmplY3QiOiBbeyJuYW1lIjogIm"
        "EtMS0wLmNvbmRhIiwgImRpZ2VzdCI6IHsic2hhMjU2IjogIkBTSEEifX1dLCAicHJlZGljYXRlVHlwZSI6ICJAVFlQ"
        "RSJ9";
    const auto envelope = [](const std::string& packed, const std::string& type) {
        return fmt::format(
            R"({{"payload": "{}", "payloadType": "{}", "signatures": [{{"sig": "AA=="}}]}})",
            packed,
            type);
    };
    const auto bundle = [](const std::string& inner) {
        return fmt::format(
            R"({{"mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json", "verificationMaterial": {{}}, "dsseEnvelope": {}}})",
            inner);
    };
    const std::string in_toto = "application/vnd.in-toto+json";
    // The payload is decoded: what is found wrong is what it holds.
    CHECK(fault(bundle(envelope(payload, in_toto))) == "predicate-type");
    CHECK(fault(envelope(payload, in_toto)) == "predicate-type");
    CHECK(fault(bundle(envelope(payload, "text/plain"))) == "malformed");
    CHECK(fault(bundle(envelope("%%%", in_toto))) == "malformed");
    CHECK(fault(bundle(envelope("AAA", in_toto))) == "malformed");
    CHECK(fault(bundle("[]")) == "malformed");
}

TEST_CASE("an attestation is of one file, for one channel", "[trust]") {
    const auto read = Attestation::parse(
        statement(kOne, R"(, "predicate": {"targetChannel": "https://host/mine"})"), "f");
    REQUIRE(read);
    CHECK(read->form == Attestation::Form::Statement);
    CHECK(read->target_channel == "https://host/mine");
    CHECK(read->check(kName, kSha256, "", "f"));
    CHECK(read->check(kName, kSha256, "https://host/mine", "f"));
    const auto why =
        [&](const std::string& name, const std::string& sum, const std::string& channel) {
            const auto checked = read->check(name, sum, channel, "f");
            REQUIRE_FALSE(checked);
            return std::string(to_string(attestation_fault(checked.error()).value()));
        };
    CHECK(why("other-1-0.conda", kSha256, "") == "name");
    CHECK(why(kName, std::string(64, 'b'), "") == "digest");
    CHECK(why(kName, kSha256, "https://mirror/mine") == "channel");
    CHECK(Attestation::parse(statement(kOne), "f")->check(kName, kSha256, "https://any", "f"));
}

}  // namespace attestation_test
