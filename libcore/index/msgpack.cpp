#include "libcore/index/msgpack_internal.hpp"

#include <algorithm>
#include <exception>
#include <fmt/format.h>
#include <msgpack.hpp>

namespace gpkg {
namespace {

/// Shards have six levels.
constexpr std::size_t kDeepest = 32;
/// 128 MiB of values; the largest real shard has half a million.
constexpr std::size_t kMostValues = std::size_t{8} << 20U;

}  // namespace

/// What msgpack-cxx calls while it reads.
class MsgpackBuilder : public msgpack::null_visitor {
public:
    using Kind = MsgpackValue::Kind;

    /// Most values are longer than this; those of few bytes cost room that is not touched.
    explicit MsgpackBuilder(std::size_t bytes) {
        values_.reserve(std::min(bytes / 12 + 1, kMostValues));
    }

    bool visit_nil() { return add(Kind::Null) != nullptr; }
    bool visit_boolean(bool value) { return add_number(Kind::Bool, value ? 1 : 0); }
    bool visit_positive_integer(std::uint64_t value) { return add_number(Kind::Unsigned, value); }
    bool visit_negative_integer(std::int64_t value) {
        // Not shortest forms: a positive one may come as signed.
        return add_number(value < 0 ? Kind::Negative : Kind::Unsigned,
                          static_cast<std::uint64_t>(value));
    }
    bool visit_float32(float value) { return visit_float64(double{value}); }
    bool visit_float64(double value) {
        auto* added = add(Kind::Float);
        if (added != nullptr) added->real_ = value;
        return added != nullptr;
    }
    bool visit_str(const char* data, std::uint32_t size) {
        return add_text(Kind::Text, data, size);
    }
    bool visit_bin(const char* data, std::uint32_t size) {
        return add_text(Kind::Bytes, data, size);
    }
    bool visit_ext(const char* data, std::uint32_t size) {
        return add_text(Kind::Extension, data, size);
    }
    bool start_array(std::uint32_t /*claimed*/) { return open(Kind::Array); }
    bool end_array() { return close(); }
    bool start_map(std::uint32_t /*claimed*/) { return open(Kind::Map); }
    bool end_map() { return close(); }

    std::vector<MsgpackValue> take() && { return std::move(values_); }
    const char* problem() const { return problem_; }

private:
    MsgpackValue* add(Kind kind) {
        if (values_.size() >= kMostValues) {
            problem_ = "too many values";
            return nullptr;
        }
        auto& added = values_.emplace_back();
        added.kind_ = kind;
        return &added;
    }
    bool add_number(Kind kind, std::uint64_t value) {
        auto* added = add(kind);
        if (added != nullptr) added->number_ = value;
        return added != nullptr;
    }
    bool add_text(Kind kind, const char* data, std::uint32_t size) {
        auto* added = add(kind);
        if (added == nullptr) return false;
        added->data_ = data;
        added->size_ = size;
        return true;
    }
    bool open(Kind kind) {
        if (open_.size() == kDeepest) {
            problem_ = "nested too deeply";
            return false;
        }
        open_.push_back(values_.size());
        return add(kind) != nullptr;
    }
    bool close() {
        const auto begin = open_.back();
        open_.pop_back();
        values_[begin].size_ = static_cast<std::uint32_t>(values_.size() - begin);
        return true;
    }

    std::vector<MsgpackValue> values_;
    std::vector<std::size_t> open_;
    const char* problem_ = "damaged or truncated";
};

std::string_view MsgpackValue::name_of(Kind kind) {
    switch (kind) {
    case Kind::Null: return "null";
    case Kind::Bool: return "true or false";
    case Kind::Unsigned:
    case Kind::Negative:
    case Kind::Float: return "a number";
    case Kind::Text: return "a string";
    case Kind::Bytes: return "bytes";
    case Kind::Extension: return "an extension";
    case Kind::Array: return "a list";
    case Kind::Map: return "a map";
    }
    return "another type";
}

Result<std::vector<MsgpackValue>> parse_msgpack(std::string_view bytes) {
    MsgpackBuilder builder(bytes.size());
    std::size_t used = 0;
    bool whole = false;
    try {
        whole = msgpack::parse(bytes.data(), bytes.size(), used, builder);
    } catch (const std::exception&) {
        whole = false;  // sizes that overflow
    }
    if (!whole) return fail(ErrorKind::Integrity, builder.problem());
    if (used != bytes.size()) return fail(ErrorKind::Integrity, "data after the end");
    return std::move(builder).take();
}

}  // namespace gpkg
