#pragma once

// Publish attestations of packages (CEP 27): an in-toto statement that names a package's file, its
// sha256 and the channel it was made for, as a rule inside a Sigstore bundle. What it says is read
// and compared with the package. Who signed it is not: that takes Sigstore's roots of trust and its
// log, and until it is done an attestation proves no more than that somebody wrote it.

#include "libcore/base/error.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace gpkg {

inline constexpr std::size_t kLargestAttestation = std::size_t{4} << 20U;

/// What is wrong. A program reads which from the member "attestation" of the JSON document.
enum class AttestationFault {
    Malformed,      ///< neither a bundle, an envelope nor a statement
    StatementType,  ///< a statement of another version
    PredicateType,  ///< it attests something else than a publication
    Subject,        ///< not exactly one package by its file name and sha256
    Predicate,      ///< the channel is none
    Name,           ///< it is of another file
    Digest,         ///< it is of other bytes
    Channel,        ///< it is for another channel
};

/// "predicate-type"
std::string_view to_string(AttestationFault fault);
std::optional<AttestationFault> attestation_fault(const Error& error);

struct Attestation {
    enum class Form { Bundle, Envelope, Statement };

    Form form = Form::Statement;
    std::string file_name;
    std::string sha256;
    std::string target_channel;  ///< empty: it does not say

    /// Of a Sigstore bundle, a DSSE envelope or a bare statement. `what` names it in errors.
    static Result<Attestation> parse(std::string_view bytes, const std::string& what);

    /// That it is of the file with that name and checksum and, where `channel` is not empty, for
    /// that channel if it names one.
    Result<void> check(std::string_view file,
                       std::string_view sha256_of_file,
                       std::string_view channel,
                       const std::string& what) const;
};

std::string_view to_string(Attestation::Form form);

}  // namespace gpkg
