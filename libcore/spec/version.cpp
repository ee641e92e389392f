#include "libcore/spec/version.hpp"

#include "libcore/base/text.hpp"
#include "libcore/spec/version_internal.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpkg {
namespace {

using Unit = std::uint64_t;

// CEP 33's order of component kinds. A text or number that goes on in a further unit is greater
// than one that ends here, whatever follows that one, hence More on top.
enum class Rank : Unit { Dev = 1, Text, Number, BigNumber, Post, More };

constexpr Unit kOpensSegment = 1;
constexpr std::size_t kLettersPerUnit = 7;
/// A number of up to this many digits fits the 59 bits of payload.
constexpr std::size_t kDigitsPerUnit = 17;

constexpr Unit make_unit(Rank rank, Unit payload) {
    return static_cast<Unit>(rank) << 60U | payload << 1U;
}
/// A component that is not there counts as the number 0.
constexpr Unit kZero = make_unit(Rank::Number, 0);

constexpr Unit value(Unit unit) { return unit & ~kOpensSegment; }
constexpr bool opens_segment(Unit unit) { return (unit & kOpensSegment) != 0; }
constexpr bool goes_on(Unit unit) { return unit >> 60U == static_cast<Unit>(Rank::More); }

/// Up to 7 letters as a number that orders as they do.
Unit pack(std::string_view letters) {
    Unit packed = 0;
    for (std::size_t i = 0; i < kLettersPerUnit; ++i)
        packed = packed << 8U | (i < letters.size() ? static_cast<unsigned char>(letters[i]) : 0U);
    return packed;
}

std::weak_ordering compare(std::span<const Unit> a, std::span<const Unit> b) {
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < a.size() || j < b.size()) {
        const bool a_waits = i == a.size() || opens_segment(a[i]);
        const bool b_waits = j == b.size() || opens_segment(b[j]);
        Unit x = kZero;
        Unit y = kZero;
        // Where only one side's segment goes on, the other side waits at its next one.
        if ((!a_waits || b_waits) && i < a.size()) x = value(a[i++]);
        if ((!b_waits || a_waits) && j < b.size()) y = value(b[j++]);
        if (x != y) return x < y ? std::weak_ordering::less : std::weak_ordering::greater;
    }
    return std::weak_ordering::equivalent;
}

bool has_prefix(std::span<const Unit> units, std::span<const Unit> prefix) {
    std::size_t i = 0;
    for (const Unit wanted : prefix) {
        if (opens_segment(wanted)) {
            // All segments before the last of the prefix must be equal, not just begin alike.
            for (; i < units.size() && !opens_segment(units[i]); ++i)
                if (value(units[i]) != kZero) return false;
        }
        const bool present =
            i < units.size() && (opens_segment(wanted) || !opens_segment(units[i]));
        if (value(wanted) != (present ? value(units[i]) : kZero)) return false;
        if (present) ++i;
        // At a segment's first unit `units[i]` opened one too, so both stay in step.
    }
    return i == units.size() || !goes_on(units[i]);
}

std::size_t hash_units(std::span<const Unit> units, std::uint64_t seed) {
    // Zeros that are written and zeros that are not must hash alike: only the others count, each
    // with its place.
    std::uint64_t sum = seed;
    std::uint64_t segment = 0;
    std::uint64_t place = 0;
    for (const Unit unit : units) {
        if (opens_segment(unit)) {
            ++segment;
            place = 0;
        }
        ++place;
        if (value(unit) == kZero) continue;
        std::uint64_t mixed = value(unit) ^ (segment << 32U | place) * 0x9e3779b97f4a7c15U;
        mixed = (mixed ^ mixed >> 31U) * 0xbf58476d1ce4e5b9U;
        sum += mixed ^ mixed >> 29U;
    }
    return sum;
}

}  // namespace

namespace grammar {

/// Reads one literal; every function returns false once a fault is found.
class VersionReader {
public:
    explicit VersionReader(std::string_view text) : text_(text) {}

    Parsed<Version> read() {
        if (!check_characters() || !split_parts()) return tl::unexpected<Fault>(std::move(fault_));
        return std::move(version_);
    }

    static Version from_number(std::uint64_t number) {
        Version version;
        version.text_ = std::to_string(number);
        version.append(kZero | kOpensSegment);
        VersionReader reader({});
        reader.version_ = std::move(version);
        reader.text_ = reader.version_.text_;
        reader.add_segment(0, reader.text_.size());
        reader.version_.main_count_ = reader.version_.count_;
        return std::move(reader.version_);
    }

private:
    bool refuse_at(std::size_t at, std::string what, std::string hint = {}) {
        fault_ = Fault{at, std::move(what), std::move(hint)};
        return false;
    }

    bool check_characters() {
        if (text_.empty()) return refuse_at(0, "the version is empty");
        if (text_.size() > Version::kLongest)
            return refuse_at(Version::kLongest,
                             fmt::format("a version has at most {} characters", Version::kLongest));
        for (std::size_t i = 0; i < text_.size(); ++i) {
            if (!is_version_char(text_[i]))
                return refuse_at(i, shown(text_[i]) + " is not allowed in a version");
        }
        version_.text_ = to_lower(text_);
        text_ = version_.text_;
        const auto dash = text_.find('-');
        const auto underscore = text_.find('_');
        if (dash != std::string_view::npos && underscore != std::string_view::npos)
            return refuse_at(std::max(dash, underscore),
                             "a version cannot contain both '-' and '_'");
        return true;
    }

    bool split_parts() {
        std::size_t begin = 0;
        const auto bang = text_.find('!');
        if (bang != std::string_view::npos) {
            if (!add_epoch(bang)) return false;
            begin = bang + 1;
        } else {
            version_.append(kZero | kOpensSegment);
        }
        const auto plus = text_.find('+', begin);
        const auto end = std::min(plus, text_.size());
        if (begin == end)
            return refuse_at(begin,
                             plus == std::string_view::npos ? "no version after the epoch"
                                                            : "no version before '+'");
        if (!add_segments(begin, end, true)) return false;
        version_.main_count_ = version_.count_;
        if (plus == std::string_view::npos) return true;
        const auto second = text_.find('+', plus + 1);
        if (second != std::string_view::npos)
            return refuse_at(second, "a second '+'", "one '+' opens the local part");
        if (plus + 1 == text_.size()) return refuse_at(plus + 1, "nothing follows '+'");
        return add_segments(plus + 1, text_.size(), false);
    }

    bool add_epoch(std::size_t bang) {
        const auto second = text_.find('!', bang + 1);
        if (second != std::string_view::npos)
            return refuse_at(second, "a second '!'", "one '!' ends the epoch");
        if (bang == 0) return refuse_at(0, "no epoch before '!'");
        for (std::size_t i = 0; i < bang; ++i)
            if (!is_digit(text_[i])) return refuse_at(i, "the epoch before '!' must be a number");
        add_segment(0, bang);
        return true;
    }

    /// A single '_' at the end of the main part belongs to its last segment (openssl's 1.0.1_).
    bool add_segments(std::size_t begin, std::size_t end, bool keeps_last_underscore) {
        const auto is_separator = [&](std::size_t i) {
            if (keeps_last_underscore && i + 1 == end && text_[i] != '.') return false;
            return text_[i] == '.' || text_[i] == '_' || text_[i] == '-';
        };
        std::size_t segment = begin;
        for (std::size_t i = begin; i <= end; ++i) {
            if (i < end && !is_separator(i)) continue;
            // "1._" has nothing that the underscore could be glued to.
            const bool is_lone = i == segment + 1 && !is_word(text_[segment]);
            if (i == segment || is_lone) return refuse_empty(begin, end, segment, i);
            add_segment(segment, i);
            segment = i + 1;
        }
        return true;
    }

    bool refuse_empty(std::size_t begin, std::size_t end, std::size_t segment, std::size_t stop) {
        const std::string part =
            begin > 0 && text_[begin - 1] == '+' ? "a local part" : "a version";
        if (segment == begin)
            return refuse_at(begin, part + " cannot start with " + shown(text_[begin]));
        if (segment == end)
            return refuse_at(end - 1, part + " cannot end with " + shown(text_[end - 1]));
        const auto second = stop == segment ? stop : segment;
        return refuse_at(
            second,
            fmt::format("empty segment between '{}' and '{}'", text_[segment - 1], text_[second]));
    }

    static bool is_word(char c) { return is_digit(c) || (c >= 'a' && c <= 'z'); }

    void add_segment(std::size_t begin, std::size_t end) {
        Unit opening = kOpensSegment;
        if (!is_digit(text_[begin])) {
            version_.append(kZero | opening);
            opening = 0;
        }
        while (begin < end) {
            auto stop = begin + 1;
            while (stop < end && is_digit(text_[stop]) == is_digit(text_[begin])) ++stop;
            const auto run = text_.substr(begin, stop - begin);
            if (is_digit(run.front()))
                add_number(run, opening);
            else
                add_text(run, opening);
            opening = 0;
            begin = stop;
        }
    }

    void add_number(std::string_view digits, Unit opening) {
        digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size() - 1));
        if (digits.size() <= kDigitsPerUnit) {
            Unit number = 0;
            for (const char c : digits) number = number * 10 + static_cast<Unit>(c - '0');
            version_.append(make_unit(Rank::Number, number) | opening);
            return;
        }
        version_.append(make_unit(Rank::BigNumber, digits.size()) | opening);
        add_rest(digits);
    }

    void add_text(std::string_view letters, Unit opening) {
        if (letters == "dev")
            version_.append(make_unit(Rank::Dev, 0) | opening);
        else if (letters == "post")
            version_.append(make_unit(Rank::Post, 0) | opening);
        else if (letters == "-")  // a dash is another way to write an underscore
            version_.append(make_unit(Rank::Text, pack("_")) | opening);
        else {
            version_.append(make_unit(Rank::Text, pack(letters)) | opening);
            if (letters.size() > kLettersPerUnit) add_rest(letters.substr(kLettersPerUnit));
        }
    }

    void add_rest(std::string_view letters) {
        while (!letters.empty()) {
            version_.append(make_unit(Rank::More, pack(letters)));
            letters.remove_prefix(std::min(kLettersPerUnit, letters.size()));
        }
    }

    std::string_view text_;  ///< of the caller, then the lower-case copy in version_
    Version version_;
    Fault fault_;
};

Parsed<Version> read_version(std::string_view text) { return VersionReader(text).read(); }

}  // namespace grammar

Result<Version> Version::parse(std::string_view text) {
    auto version = grammar::read_version(text);
    if (!version) return grammar::refuse(text, version.error(), "InvalidVersionSpec");
    return *std::move(version);
}

Version Version::from_number(std::uint64_t number) {
    return grammar::VersionReader::from_number(number);
}

void Version::append(Unit unit) {
    if (count_ < kInline) {
        few_[count_++] = unit;
        return;
    }
    if (many_.empty()) many_.assign(few_.begin(), few_.end());
    many_.push_back(unit);
    ++count_;
}

std::weak_ordering operator<=>(const Version& a, const Version& b) {
    const auto main = compare(a.main_units(), b.main_units());
    return std::is_neq(main) ? main : compare(a.local_units(), b.local_units());
}

bool Version::starts_with(const Version& prefix) const {
    if (!prefix.has_local()) return has_prefix(main_units(), prefix.main_units());
    return std::is_eq(compare(main_units(), prefix.main_units())) &&
           has_prefix(local_units(), prefix.local_units());
}

std::optional<Version> Version::without_last_segment() const {
    std::string_view main = std::string_view(text_).substr(0, text_.find('+'));
    const auto last = main.find_last_of("._-", main.size() - 2);
    if (main.size() < 2 || last == std::string_view::npos) return std::nullopt;
    auto stem = parse(main.substr(0, last));
    if (!stem) return std::nullopt;
    return *std::move(stem);
}

std::size_t Version::hash() const {
    return hash_units(local_units(), hash_units(main_units(), 0) * 3);
}

}  // namespace gpkg
