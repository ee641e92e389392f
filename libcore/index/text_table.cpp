#include "libcore/index/text_table_internal.hpp"

#include <algorithm>
#include <xxhash.h>

namespace gpkg {
namespace {

constexpr std::size_t kFirstSlots = 64;

std::uint32_t hash_of(std::string_view text) {
    return static_cast<std::uint32_t>(XXH3_64bits(text.data(), text.size()));
}

}  // namespace

/// Where the text stands, or the free slot where it should.
std::size_t TextTable::slot_of(std::string_view wanted, std::uint32_t hash) const {
    const auto mask = slots_.size() - 1;
    auto slot = hash & mask;
    while (slots_[slot] != 0) {
        const auto number = slots_[slot] - 1;
        if (pieces_[number].hash == hash && text(number) == wanted) break;
        slot = (slot + 1) & mask;
    }
    return slot;
}

TextTable::Number TextTable::add(std::string_view text) {
    if (pieces_.size() * 2 >= slots_.size()) grow();
    const auto hash = hash_of(text);
    auto& slot = slots_[slot_of(text, hash)];
    if (slot == 0) {
        pieces_.push_back({pool_.size(), static_cast<std::uint32_t>(text.size()), hash});
        pool_ += text;
        slot = static_cast<Number>(pieces_.size());
    }
    return slot - 1;
}

bool TextTable::has(std::string_view text) const {
    return !slots_.empty() && slots_[slot_of(text, hash_of(text))] != 0;
}

void TextTable::grow() {
    slots_.assign(std::max(kFirstSlots, slots_.size() * 2), 0);
    const auto mask = slots_.size() - 1;
    for (Number number = 0; number < pieces_.size(); ++number) {
        auto slot = pieces_[number].hash & mask;
        while (slots_[slot] != 0) slot = (slot + 1) & mask;
        slots_[slot] = number + 1;
    }
}

}  // namespace gpkg
