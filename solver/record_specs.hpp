#pragma once

// The lists of specs that the records of one name have in one channel's index, in the numbers of a
// SpecTable. Most records share theirs with others, so each list is read once.

#include "libcore/index/channel_index.hpp"
#include "solver/spec_table.hpp"

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gpkg::solver {

/// A list of specs, and what they say of the build that has it.
struct SpecList {
    std::span<const SpecId> specs;        ///< that apply wherever the record is
    std::span<const SpecId> conditional;  ///< that apply where their `when` holds
    bool is_readable = true;              ///< else it is empty
    HintedAccelerator accelerator{};
    Closeness closeness{};
    bool will_not_run = false;
};

/// The dependencies of one record, being collected.
class Dependencies {
public:
    explicit Dependencies(SpecTable& table) : table_(table) {}

    void add(SpecId id);
    void add_constrain(SpecId id);
    SpecList keep() &&;

private:
    SpecTable& table_;
    std::vector<SpecId> specs_;
    std::vector<SpecId> conditional_;
    bool will_not_run_ = false;
};

class RecordSpecs {
public:
    explicit RecordSpecs(SpecTable& table) : table_(table) {}

    /// From now on lists are those of other records: their numbers mean nothing elsewhere.
    void begin();
    Result<SpecList> depends(const ChannelRecord& record);
    Result<SpecList> constrains(const ChannelRecord& record);
    /// Groups in the order of their names.
    Result<SpecList> extras(NameId name, const ChannelRecord& record);

private:
    using Known = std::unordered_map<ChannelIndex::List, SpecList>;
    Result<SpecId> take(const ChannelIndex& index, ChannelIndex::SpecNumber number);
    /// What `read` makes of a list, kept in `known`; it gives false where it cannot be read.
    template <typename Read>
    Result<SpecList> once(Known& known, ChannelIndex::List list, const Read& read);

    SpecTable& table_;
    std::unordered_map<const ChannelIndex*, std::vector<SpecId>> of_index_;
    Known depends_;
    Known constrains_;
    Known extras_;
};

}  // namespace gpkg::solver
