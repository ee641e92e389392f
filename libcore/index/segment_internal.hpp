#pragma once

// All that an index says of one name, as the bytes of its segment.

#include "libcore/base/error.hpp"
#include "libcore/index/channel_index.hpp"
#include "libcore/index/text_table_internal.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// Appends the record to `into`, in the form that SegmentBuilder::add_records takes back.
/// `number_of` gives a dependency spec its provisional number.
void encode_record(const IndexRecord& record,
                   const std::function<TextTable::Number(std::string_view)>& number_of,
                   std::string& into);

class SegmentBuilder {
public:
    using Number = TextTable::Number;

    /// `final_number` translates the provisional numbers of specs. `first_spec` is the final
    /// number of the first spec on this name.
    SegmentBuilder(std::string_view name,
                   const std::vector<Number>& final_number,
                   Number first_spec);

    /// The specs on this name, in the order of their final numbers.
    void add_spec(std::string_view text) { specs_.push_back(piece(text)); }
    /// Encoded records, one behind the other.
    void add_records(std::string_view encoded);

    struct Built {
        std::string bytes;
        std::uint32_t rows = 0;
        std::vector<std::string> repeated;  ///< artifacts that have several records in one map
    };
    /// Without the artifacts in `removed`. Refuses what is too large for its offsets.
    Result<Built> finish(const TextTable& removed) &&;

private:
    using Text = ChannelIndex::Text;
    using List = ChannelIndex::List;
    using Row = ChannelIndex::Row;

    /// A row whose version is a provisional number.
    struct Draft {
        Row row;
        bool is_v3 = false;
    };

    Text piece(std::string_view text);
    List list(const std::vector<std::uint32_t>& words);
    std::string fn(const Draft& draft) const;
    std::vector<std::string> drop_repeated();
    void sort_rows();
    void find_twins();

    std::string name_;
    const std::vector<Number>& final_number_;
    Number first_spec_;
    std::vector<Draft> drafts_;
    std::vector<Text> specs_;
    TextTable versions_;
    std::vector<Text> sorted_versions_;
    TextTable texts_;
    TextTable lists_;
};

}  // namespace gpkg
