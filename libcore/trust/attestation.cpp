#include "libcore/trust/attestation.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/base/text.hpp"
#include "libcore/trust/fields_internal.hpp"

#include <array>
#include <fmt/format.h>
#include <nettle/base64.h>

namespace gpkg {
namespace {

using trust_fields::Object;

constexpr std::string_view kStatement = "https://in-toto.io/Statement/v1";
constexpr std::string_view kPublish =
    "https://schemas.conda.org/attestations-publish-1.schema.json";
constexpr std::string_view kPayload = "application/vnd.in-toto+json";

constexpr auto kAttestationFaults =
    std::to_array<AttestationFault>({AttestationFault::Malformed,
                                     AttestationFault::StatementType,
                                     AttestationFault::PredicateType,
                                     AttestationFault::Subject,
                                     AttestationFault::Predicate,
                                     AttestationFault::Name,
                                     AttestationFault::Digest,
                                     AttestationFault::Channel});

std::string details_of(AttestationFault fault) {
    return fmt::format(R"({{"attestation":"{}"}})", to_string(fault));
}

tl::unexpected<Error> wrong(AttestationFault fault, std::string message) {
    Error error{ErrorKind::Integrity, std::move(message), {}, {}};
    error.details = details_of(fault);
    return tl::unexpected<Error>(std::move(error));
}

/// What the JSON lacks is this fault.
template <typename T>
Result<T> as(AttestationFault fault, Result<T> read) {
    if (read) return read;
    return wrong(fault, std::move(read).error().message);
}

Result<std::string> decode_base64(std::string_view text, const std::string& what) {
    base64_decode_ctx context{};
    base64_decode_init(&context);
    std::string bytes(BASE64_DECODE_LENGTH(text.size()), '\0');
    std::size_t size = bytes.size();
    auto* raw = reinterpret_cast<std::uint8_t*>(bytes.data());
    if (base64_decode_update(&context, &size, raw, text.size(), text.data()) != 1 ||
        base64_decode_final(&context) != 1)
        return wrong(AttestationFault::Malformed, what + ": its payload is not base64");
    bytes.resize(size);
    return bytes;
}

Result<std::string> payload_of(const Object& envelope) {
    constexpr auto kFault = AttestationFault::Malformed;
    GPKG_TRY(const auto type, as(kFault, envelope.text("payloadType")));
    if (type != kPayload)
        return wrong(
            kFault,
            fmt::format(
                "{}: its payload is {}, not {}", envelope.what(), printable(type), kPayload));
    GPKG_TRY(const auto packed, as(kFault, envelope.text("payload")));
    return decode_base64(packed, envelope.what());
}

/// "https://host/channel": no slash at its end.
bool is_channel_url(std::string_view text) {
    const auto host = text.find("://");
    return host != std::string_view::npos && host > 0 && host + 3 < text.size() &&
           !text.ends_with('/');
}

Result<void> read_subject(const Object& statement, Attestation& attestation) {
    constexpr auto kFault = AttestationFault::Subject;
    const auto& what = statement.what();
    GPKG_TRY(const auto subjects, as(kFault, statement.list("subject")));
    if (subjects.size() != 1)
        return wrong(kFault, fmt::format("{}: has {} subjects, not one", what, subjects.size()));
    Object subject(what);
    GPKG_CHECK(as(kFault, subject.open(subjects.at(0).value())));
    GPKG_TRY(attestation.file_name, as(kFault, subject.text("name")));
    const auto& name = attestation.file_name;
    if ((!name.ends_with(".conda") && !name.ends_with(".tar.bz2")) ||
        name.find('/') != std::string::npos)
        return wrong(
            kFault,
            fmt::format(
                "{}: its subject \"{}\" is not a package file name", what, printable(name)));
    GPKG_TRY(const auto digest, as(kFault, subject.object("digest")));
    GPKG_TRY(attestation.sha256, as(kFault, digest.text("sha256")));
    if (!is_hex(attestation.sha256, 64))
        return wrong(kFault, what + ": the sha256 of its subject is not 64 hex digits");
    attestation.sha256 = to_lower(attestation.sha256);
    if (digest.members().size() == 1) return {};
    return wrong(kFault, what + ": its subject has digests other than sha256");
}

Result<void> read_predicate(simdjson::dom::object statement,
                            const std::string& what,
                            Attestation& attestation) {
    constexpr auto kFault = AttestationFault::Predicate;
    simdjson::dom::element value;
    if (statement["predicate"].get(value) != simdjson::SUCCESS || value.is_null()) return {};
    Object predicate(what);
    if (!predicate.open(value))
        return wrong(kFault, what + ": its predicate is not an object or null");
    if (!predicate.has("targetChannel")) return {};
    GPKG_TRY(attestation.target_channel, as(kFault, predicate.text("targetChannel")));
    if (is_channel_url(attestation.target_channel)) return {};
    return wrong(kFault,
                 fmt::format("{}: its targetChannel \"{}\" is not a URL without a trailing slash",
                             what,
                             printable(attestation.target_channel)));
}

Result<void> read_in_toto(std::string_view text,
                          const std::string& what,
                          Attestation& attestation) {
    using enum AttestationFault;
    simdjson::dom::parser parser;
    Object statement(what);
    GPKG_CHECK(as(Malformed, statement.open(parser, simdjson::padded_string(text))));
    GPKG_TRY(const auto type, as(Malformed, statement.text("_type")));
    if (type != kStatement)
        return wrong(StatementType,
                     fmt::format("{}: its _type is {}, not {}", what, printable(type), kStatement));
    GPKG_TRY(const auto predicate, as(PredicateType, statement.text("predicateType")));
    if (predicate != kPublish)
        return wrong(
            PredicateType,
            fmt::format(
                "{}: its predicateType is {}, not {}", what, printable(predicate), kPublish));
    GPKG_CHECK(read_subject(statement, attestation));
    return read_predicate(statement.members(), what, attestation);
}

}  // namespace

std::string_view to_string(AttestationFault fault) {
    switch (fault) {
    case AttestationFault::Malformed: return "malformed";
    case AttestationFault::StatementType: return "statement-type";
    case AttestationFault::PredicateType: return "predicate-type";
    case AttestationFault::Subject: return "subject";
    case AttestationFault::Predicate: return "predicate";
    case AttestationFault::Name: return "name";
    case AttestationFault::Digest: return "digest";
    case AttestationFault::Channel: return "channel";
    }
    return "malformed";
}

std::optional<AttestationFault> attestation_fault(const Error& error) {
    for (const auto fault : kAttestationFaults) {
        if (error.details == details_of(fault)) return fault;
    }
    return std::nullopt;
}

std::string_view to_string(Attestation::Form form) {
    switch (form) {
    case Attestation::Form::Bundle: return "sigstore-bundle";
    case Attestation::Form::Envelope: return "dsse-envelope";
    case Attestation::Form::Statement: return "statement";
    }
    return "statement";
}

Result<Attestation> Attestation::parse(std::string_view bytes, const std::string& what) {
    constexpr auto kFault = AttestationFault::Malformed;
    Attestation attestation;
    simdjson::dom::parser parser;
    Object outer(what);
    GPKG_CHECK(as(kFault, outer.open(parser, simdjson::padded_string(bytes))));
    std::string text(bytes);
    if (outer.has("dsseEnvelope")) {
        attestation.form = Form::Bundle;
        GPKG_TRY(const auto envelope, as(kFault, outer.object("dsseEnvelope")));
        GPKG_TRY(text, payload_of(envelope));
    } else if (outer.has("payload")) {
        attestation.form = Form::Envelope;
        GPKG_TRY(text, payload_of(outer));
    } else if (outer.has("mediaType") || outer.has("messageSignature")) {
        return wrong(kFault, what + ": the bundle has no dsseEnvelope");
    }
    GPKG_CHECK(read_in_toto(text, what, attestation));
    return attestation;
}

Result<void> Attestation::check(std::string_view file,
                                std::string_view sha256_of_file,
                                std::string_view channel,
                                const std::string& what) const {
    if (file_name != file)
        return wrong(AttestationFault::Name,
                     fmt::format("{}: attests {}, not {}", what, printable(file_name), file));
    if (sha256 != sha256_of_file)
        return wrong(AttestationFault::Digest,
                     fmt::format("{}: attests {} with sha256 {}, but the file has {}",
                                 what,
                                 file,
                                 sha256,
                                 sha256_of_file));
    if (channel.empty() || target_channel.empty() || channel == target_channel) return {};
    return wrong(
        AttestationFault::Channel,
        fmt::format(
            "{}: attests for channel {}, not {}", what, printable(target_channel), channel));
}

}  // namespace gpkg
