#pragma once

// Makes a ChannelIndex of records that come one by one, in any order. Memory is bounded by the
// distinct names and dependency specs, not by the records: those wait in a file. Rows and
// numbers do not depend on the order in which records come, the place of their texts does.

#include "libcore/base/error.hpp"
#include "libcore/index/channel_index.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace gpkg {

class IndexWriter {
public:
    /// What outgrows memory is kept in a nameless file in `scratch`.
    explicit IndexWriter(fs::path scratch);
    IndexWriter(IndexWriter&&) noexcept;
    IndexWriter& operator=(IndexWriter&&) noexcept;
    ~IndexWriter();

    /// The record must be one that the rules allow.
    Result<void> add(const IndexRecord& record);
    /// A withdrawn artifact, by its file name: no record of it stays, whenever it is added.
    void remove(std::string_view fn);
    /// As the channel wrote it; empty: next to the index.
    void set_base_url(std::string_view base_url);
    void set_relations(ChannelRelations relations);
    /// For ChannelIndex::notes(), without the index's URL in front.
    void add_note(std::string note);

    using Sink = std::function<Result<void>(std::string_view bytes)>;
    /// Gives the bytes of the index to `sink`, piece by piece. Refuses two records of one artifact;
    /// the error has no file's name.
    Result<void> finish(const IndexOrigin& origin, const Sink& sink) &&;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace gpkg
