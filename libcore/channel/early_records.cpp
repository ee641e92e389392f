#include "libcore/channel/early_records_internal.hpp"
#include "libcore/index/repodata.hpp"

#include <utility>

namespace gpkg {

EarlyRecords::EarlyRecords(std::shared_ptr<ArrivingFile> body, IndexSource source, fs::path scratch)
    : body_(std::move(body)),
      source_(std::move(source)),
      scratch_(std::move(scratch)),
      reader_(1, [this] { read(); }) {}

void EarlyRecords::read() {
    if (!body_->wait_for(kSmallRepodata)) return;
    IndexWriter records(scratch_);
    auto bytes = repodata_source(ArrivingFile::source(body_), source_);
    // What is wrong with it is told when it is read again.
    if (read_repodata(std::move(bytes), source_, records)) records_ = std::move(records);
}

std::optional<IndexWriter> EarlyRecords::take() {
    reader_.join();
    return std::exchange(records_, std::nullopt);
}

void EarlyRecords::stop() {
    body_->abandon();
    (void)take();
}

}  // namespace gpkg
