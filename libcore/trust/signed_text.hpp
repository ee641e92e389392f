#pragma once

// A text and who signed it, as one file:
//
//   {"signed": "<the text, a JSON document of its own>",
//    "signatures": [{"key": "<public key>", "signature": "<of the text's bytes>"}]}
//
// What is signed are the very bytes of the text, as they are once the outer JSON is decoded: there
// is no canonical form of JSON to agree on, and nothing of the text is looked at before it is
// verified.

#include "libcore/trust/fault.hpp"
#include "libcore/trust/signing_key.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// Whose signatures count, and how many of them it takes.
struct SigningRole {
    std::vector<std::string> keys;
    std::size_t threshold = 1;

    bool has(std::string_view key) const;
    friend bool operator==(const SigningRole&, const SigningRole&) = default;
};

class SignedText {
public:
    explicit SignedText(std::string text) : text_(std::move(text)) {}
    /// Malformed where it is not such a file. `what` names it in errors.
    static Result<SignedText> parse(std::string_view bytes, const std::string& what);

    /// Unverified.
    const std::string& text() const { return text_; }
    bool is_signed() const { return !signatures_.empty(); }
    /// Whose signatures there are, unverified.
    std::vector<std::string> keys() const;
    std::string to_json() const;
    /// Adds a signature, in place of one by the same key.
    void sign(const SigningKey& key);

    /// Whether as many keys of the role as it takes have signed the text. Signatures by other keys
    /// do not count, and one of the role's that is not right is an error by itself.
    Result<void> verify(const SigningRole& role, const std::string& what) const;

private:
    struct Signature {
        std::string key;
        std::string signature;
    };

    std::string text_;
    std::vector<Signature> signatures_;
};

}  // namespace gpkg
