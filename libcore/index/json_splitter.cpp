#include "libcore/index/json_splitter_internal.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <fmt/format.h>
#include <utility>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace gpkg {
namespace {

constexpr std::size_t kReadSize = std::size_t{128} << 10U;
constexpr std::size_t kBlock = 64;

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
bool is_bracket(char c) { return (c | 0x20) == '{' || (c | 0x20) == '}'; }  // [ and ] as well

/// Where in a block of 64 bytes the characters stand that matter, the lowest bit being the first.
struct Marks {
    std::uint64_t quotes = 0;
    std::uint64_t backslashes = 0;
    std::uint64_t brackets = 0;
};

Marks marks_of(const char* block) {
    Marks marks;
#if defined(__SSE2__)
    for (unsigned part = 0; part < kBlock / 16; ++part) {
        const auto bytes =
            _mm_loadu_si128(reinterpret_cast<const __m128i*>(block + std::size_t{part} * 16));
        const auto folded = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
        const auto where = [&](__m128i found) {
            return std::uint64_t{static_cast<std::uint32_t>(_mm_movemask_epi8(found))}
                   << (part * 16);
        };
        marks.quotes |= where(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')));
        marks.backslashes |= where(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
        marks.brackets |= where(_mm_or_si128(_mm_cmpeq_epi8(folded, _mm_set1_epi8('{')),
                                             _mm_cmpeq_epi8(folded, _mm_set1_epi8('}'))));
    }
#else
    for (unsigned i = 0; i < kBlock; ++i) {
        marks.quotes |= std::uint64_t{block[i] == '"'} << i;
        marks.backslashes |= std::uint64_t{block[i] == '\\'} << i;
        marks.brackets |= std::uint64_t{is_bracket(block[i])} << i;
    }
#endif
    return marks;
}

/// Bit i is set where an odd number of the bits 0 to i of `bits` is.
std::uint64_t odd_so_far(std::uint64_t bits) {
    for (unsigned shift = 1; shift < kBlock; shift *= 2) bits ^= bits << shift;
    return bits;
}

/// The key, quotes included, of the map or list that opens at the end of `text`; empty when none
/// stands there.
std::string_view key_before(std::string_view text) {
    const auto drop = [&](const auto& unwanted) {
        while (!text.empty() && unwanted(text.back())) text.remove_suffix(1);
    };
    drop(is_space);
    if (!text.ends_with(':')) return {};
    text.remove_suffix(1);
    drop(is_space);
    if (!text.ends_with('"')) return {};
    for (std::size_t begin = text.size() - 1; begin-- > 0;) {
        if (text[begin] != '"') continue;
        auto slashes = begin;
        while (slashes > 0 && text[slashes - 1] == '\\') --slashes;
        if ((begin - slashes) % 2 == 0) return text.substr(begin);
    }
    return {};
}

}  // namespace

JsonSplitter::JsonSplitter(ByteSource source, Options options)
    : source_(std::move(source)), options_(options) {}

Result<bool> JsonSplitter::fill() {
    if (at_end_) return false;
    const auto needed = size_ + kReadSize + kDeepest + kPadding;
    if (buffer_.size() < needed) buffer_.resize(std::max(needed, 2 * buffer_.size()));
    GPKG_TRY(const auto count, source_(buffer_.data() + size_, kReadSize));
    size_ += count;
    at_end_ = count == 0;
    return !at_end_;
}

Result<std::optional<JsonPiece>> JsonSplitter::next() {
    if (done_) return std::nullopt;
    if (cut_ > 0) {
        std::copy(overwritten_.begin(),
                  overwritten_.end(),
                  buffer_.begin() + static_cast<std::ptrdiff_t>(cut_));
        const auto unclear = [&] {
            std::size_t seen = 0;
            for (auto at = cut_; at < size_; ++at) {
                if (is_space(buffer_[at])) continue;
                if (buffer_[at] != ',' || ++seen == 2) return false;
            }
            return true;
        };
        while (unclear()) {
            GPKG_TRY(const bool more, fill());
            if (!more) break;
        }
        begin_piece();
    }
    while (true) {
        if (const auto cut = find_cut()) return close_piece(*cut);
        if (size_ > options_.piece + options_.longest_member)
            return fail(ErrorKind::Integrity,
                        fmt::format("a single record is larger than {} MiB",
                                    options_.longest_member >> 20U));
        GPKG_TRY(const bool more, fill());
        if (more) continue;
        done_ = true;
        if (buffer_.size() < size_ + kPadding) buffer_.resize(size_ + kPadding);
        return JsonPiece{std::string_view(buffer_).substr(0, size_), reopened_};
    }
}

/// The maps that the last piece closed are opened again around what follows.
void JsonSplitter::begin_piece() {
    std::string opening = "{";
    for (int depth = 2; depth <= depth_; ++depth)
        opening += keys_[static_cast<std::size_t>(depth)] + ":{";
    auto rest = std::string_view(buffer_).substr(cut_, size_ - cut_);
    const auto skip_spaces = [&] {
        while (!rest.empty() && is_space(rest.front())) rest.remove_prefix(1);
    };
    skip_spaces();
    // Between two members stands one comma, which belongs to neither piece. Where it does not, one
    // is left at the front for the parser to complain of.
    const bool has_comma = rest.starts_with(',');
    if (has_comma) rest.remove_prefix(1);
    skip_spaces();
    if (has_comma ? !rest.starts_with('"') : rest.starts_with('"')) opening += ',';
    const auto room = opening.size() + rest.size() + kDeepest + kPadding;
    const auto from = static_cast<std::size_t>(rest.data() - buffer_.data());
    const auto length = rest.size();
    if (buffer_.size() < room) buffer_.resize(room);
    std::memmove(buffer_.data() + opening.size(), buffer_.data() + from, length);
    std::memcpy(buffer_.data(), opening.data(), opening.size());
    size_ = opening.size() + length;
    scanned_ = opening.size();
    reopened_ = depth_;
    cut_ = 0;
}

JsonPiece JsonSplitter::close_piece(std::size_t end) {
    const auto depth = static_cast<std::size_t>(depth_);
    if (buffer_.size() < end + depth + kPadding) buffer_.resize(end + depth + kPadding);
    overwritten_.assign(buffer_, end, depth);
    std::fill_n(buffer_.begin() + static_cast<std::ptrdiff_t>(end), depth, '}');
    cut_ = end;
    return {std::string_view(buffer_).substr(0, end + depth), reopened_};
}

bool JsonSplitter::may_cut_here() const {
    if (depth_ < 1 || depth_ > cut_depth_) return false;
    for (int depth = 1; depth <= depth_; ++depth) {
        const auto place = static_cast<std::size_t>(depth);
        if (openers_[place] != '{' || (depth > 1 && keys_[place].empty())) return false;
    }
    return true;
}

/// Follows the bracket at `at`, which is outside of strings. True: a piece may end behind it.
bool JsonSplitter::take_bracket(std::size_t at) {
    const char c = buffer_[at];
    if (c == '}' || c == ']') {
        --depth_;
        return at + 1 >= options_.piece && may_cut_here();
    }
    ++depth_;
    if (depth_ < 1 || depth_ > kDeepest) return false;
    const auto place = static_cast<std::size_t>(depth_);
    openers_[place] = c;
    if (depth_ == 1) return false;
    keys_[place] = key_before(std::string_view(buffer_).substr(0, at));
    if (depth_ > 2) return false;
    const std::string_view key = keys_[place];
    cut_depth_ = key.size() < 2 || options_.depth_of == nullptr
                     ? 1
                     : options_.depth_of(key.substr(1, key.size() - 2));
    return false;
}

/// Looks at what is read and not yet looked at; stops where a piece can end.
std::optional<std::size_t> JsonSplitter::find_cut() {
    while (scanned_ < size_) {
        const bool whole = size_ - scanned_ >= kBlock;
        const auto marks = whole ? marks_of(buffer_.data() + scanned_) : Marks{};
        if (!whole || escaped_ || marks.backslashes != 0) {
            // Few blocks have a backslash: byte by byte will do.
            const auto end = std::min(scanned_ + kBlock, size_);
            while (scanned_ < end) {
                const auto at = scanned_++;
                const char c = buffer_[at];
                if (in_string_) {
                    if (escaped_) {
                        escaped_ = false;
                    } else if (c == '\\') {
                        escaped_ = true;
                    } else if (c == '"') {
                        in_string_ = false;
                    }
                } else if (c == '"') {
                    in_string_ = true;
                } else if (is_bracket(c) && take_bracket(at)) {
                    return scanned_;
                }
            }
            continue;
        }
        const auto inside = odd_so_far(marks.quotes) ^ (in_string_ ? ~std::uint64_t{0} : 0);
        for (auto left = marks.brackets & ~inside; left != 0; left &= left - 1) {
            const auto at = scanned_ + static_cast<std::size_t>(std::countr_zero(left));
            if (!take_bracket(at)) continue;
            scanned_ = at + 1;
            in_string_ = false;
            return scanned_;
        }
        in_string_ = inside >> (kBlock - 1) != 0;
        scanned_ += kBlock;
    }
    return std::nullopt;
}

}  // namespace gpkg
