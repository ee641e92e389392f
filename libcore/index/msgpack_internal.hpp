#pragma once

// A msgpack document in memory: its values one after the other, as they stand in the bytes, so that
// walking through them is walking through one array. Texts are borrowed from the bytes.

#include "libcore/base/error.hpp"

#include <cstdint>
#include <iterator>
#include <string_view>
#include <vector>

namespace gpkg {

class MsgpackValue {
public:
    enum class Kind : std::uint8_t {
        Null,
        Bool,
        Unsigned,
        Negative,
        Float,
        Text,
        Bytes,
        Extension,
        Array,
        Map
    };

    Kind kind() const { return kind_; }
    /// Of Text and Bytes.
    std::string_view text() const { return {data_, size_}; }
    /// Of Bool and Unsigned; of Negative in two's complement.
    std::uint64_t number() const { return number_; }
    double real() const { return real_; }

    class Iterator {
    public:
        using difference_type = std::ptrdiff_t;
        using value_type = MsgpackValue;
        explicit Iterator(const MsgpackValue* at = nullptr) : at_(at) {}
        const MsgpackValue& operator*() const { return *at_; }
        const MsgpackValue* operator->() const { return at_; }
        Iterator& operator++() {
            at_ += at_->span();
            return *this;
        }
        Iterator operator++(int) {
            auto before = *this;
            ++*this;
            return before;
        }
        friend bool operator==(Iterator, Iterator) = default;

    private:
        const MsgpackValue* at_;
    };
    /// The items of an Array; of a Map keys and values in turn.
    Iterator begin() const { return Iterator(this + 1); }
    Iterator end() const { return Iterator(this + span()); }

    /// "a list", "a text".
    static std::string_view name_of(Kind kind);

private:
    friend class MsgpackBuilder;
    /// How many values this one is, with all inside.
    std::uint32_t span() const { return kind_ == Kind::Array || kind_ == Kind::Map ? size_ : 1; }

    union {
        const char* data_ = nullptr;
        std::uint64_t number_;
        double real_;
    };
    std::uint32_t size_ = 0;  ///< of a text, or the span of a container
    Kind kind_ = Kind::Null;
};

/// The values of a document; the first is the outermost. An Integrity error, without a file's name,
/// for what is damaged, cut off or followed by anything, nested too deep or of too many values. No
/// length that the bytes claim is believed before as much was seen.
Result<std::vector<MsgpackValue>> parse_msgpack(std::string_view bytes);

}  // namespace gpkg
