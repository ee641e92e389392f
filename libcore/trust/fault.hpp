#pragma once

// What can be wrong with what a channel signs. Each is an error of its own, and a program reads
// which from the member "trust" of the JSON document.

#include "libcore/base/error.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace gpkg {

enum class TrustFault {
    Tampered,    ///< the bytes are not those that were signed
    WrongKey,    ///< nobody who is trusted signed it
    TooFew,      ///< some who are trusted did, but not as many as it takes
    Expired,     ///< what it says was good until then
    RolledBack,  ///< older than what was seen before
    Missing,     ///< there is none
    Clock,       ///< made in the future: this machine's clock is wrong, or that of the signer
    Malformed,   ///< signed or not, it cannot be read
};

/// "wrong-key"
std::string_view to_string(TrustFault fault);

tl::unexpected<Error> distrust(TrustFault fault, std::string message, std::string hint = {});

/// Which one it was; nothing for errors of other kinds.
std::optional<TrustFault> trust_fault(const Error& error);

}  // namespace gpkg
