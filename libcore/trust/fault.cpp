#include "libcore/trust/fault.hpp"

#include <array>
#include <fmt/format.h>

namespace gpkg {
namespace {

constexpr auto kTrustFaults = std::to_array<TrustFault>({TrustFault::Tampered,
                                                         TrustFault::WrongKey,
                                                         TrustFault::TooFew,
                                                         TrustFault::Expired,
                                                         TrustFault::RolledBack,
                                                         TrustFault::Missing,
                                                         TrustFault::Clock,
                                                         TrustFault::Malformed});

std::string details_of(TrustFault fault) {
    return fmt::format(R"({{"trust":"{}"}})", to_string(fault));
}

}  // namespace

std::string_view to_string(TrustFault fault) {
    switch (fault) {
    case TrustFault::Tampered: return "tampered";
    case TrustFault::WrongKey: return "wrong-key";
    case TrustFault::TooFew: return "too-few-signatures";
    case TrustFault::Expired: return "expired";
    case TrustFault::RolledBack: return "rolled-back";
    case TrustFault::Missing: return "missing";
    case TrustFault::Clock: return "clock";
    case TrustFault::Malformed: return "malformed";
    }
    return "malformed";
}

tl::unexpected<Error> distrust(TrustFault fault, std::string message, std::string hint) {
    Error error{ErrorKind::Integrity, std::move(message), std::move(hint), {}};
    error.details = details_of(fault);
    return tl::unexpected<Error>(std::move(error));
}

std::optional<TrustFault> trust_fault(const Error& error) {
    for (const auto fault : kTrustFaults) {
        if (error.details == details_of(fault)) return fault;
    }
    return std::nullopt;
}

}  // namespace gpkg
