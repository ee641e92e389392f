#include "cli/workflow/unpacking.hpp"

#include "libcore/net/url.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gpkg::cli {
namespace {

/// A failure about a downloaded file speaks of where that came from: the file is gone by then.
void name_by_url(Error& failure, const fs::path& file, const std::string& url) {
    const auto rename = [&](std::string& text) {
        const auto place = text.find(file.native());
        if (place != std::string::npos)
            text.replace(place, file.native().size(), without_secrets(url));
    };
    rename(failure.message);
    for (auto& step : failure.context) rename(step);
}

}  // namespace

Unpacking::Unpacking(const PackageStore& store,
                     const std::vector<PackageRecord>& records,
                     const StoreAddOptions& how,
                     std::stop_source& stop)
    : store_(store),
      records_(records),
      how_(how),
      stop_(stop),
      folders_(records.size()),
      early_workers_(kEarlyUnpackers, [this] { unpack_arriving(); }),
      workers_(kUnpackers, [this] { unpack_whole(); }) {}

Unpacking::~Unpacking() {
    {
        const std::lock_guard lock(mutex_);
        whole_.clear();
        for (const auto& [index, archive] : early_) archive->abandon();
    }
    close();
}

void Unpacking::arrives(std::size_t index, std::shared_ptr<ArrivingFile> archive) {
    // Without a sha256 nobody knows yet which folder of the store it will be.
    const auto& record = records_[index];
    if (record.size < kEarlyFrom || record.sha256.empty()) return;
    const std::lock_guard lock(mutex_);
    std::erase_if(arriving_, [&](const auto& other) { return other.index == index; });
    arriving_.push_back({index, std::move(archive)});
    changed_.notify_all();
}

void Unpacking::add(std::size_t index, fs::path archive, bool is_ours) {
    Whole whole{index, std::move(archive), is_ours};
    if (workers_.count() == 0) {
        if (!is_failing()) unpack(whole);
        return;
    }
    const std::lock_guard lock(mutex_);
    std::erase_if(arriving_, [&](const auto& other) { return other.index == index; });
    whole_.push_back(std::move(whole));
    changed_.notify_all();
}

Result<std::vector<fs::path>> Unpacking::finish() {
    close();
    if (failure_) return pass(*std::move(failure_));
    return std::move(folders_);
}

std::size_t Unpacking::done() {
    const std::lock_guard lock(mutex_);
    return done_;
}

bool Unpacking::is_failing() {
    const std::lock_guard lock(mutex_);
    return failure_.has_value();
}

/// Nothing more will be added.
void Unpacking::close() {
    {
        const std::lock_guard lock(mutex_);
        closed_ = true;
        arriving_.clear();
        changed_.notify_all();
    }
    early_workers_.join();
    workers_.join();
}

void Unpacking::unpack_arriving() {
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [this] { return closed_ || !arriving_.empty(); });
        if (arriving_.empty() || failure_) return;
        const auto next = std::move(arriving_.front());
        arriving_.pop_front();
        early_[next.index] = next.archive;
        lock.unlock();
        // What fails is unpacked once more when it is there, which also says what is wrong with it.
        auto folder =
            store_.add_arriving(next.archive, records_[next.index], options(next.index, true));
        lock.lock();
        // It may have begun anew meanwhile.
        const auto place = early_.find(next.index);
        if (place != early_.end() && place->second == next.archive) early_.erase(place);
        if (folder) folders_[next.index] = *std::move(folder);
        changed_.notify_all();
    }
}

void Unpacking::unpack_whole() {
    std::unique_lock lock(mutex_);
    for (;;) {
        // One that is still being unpacked as it came is waited for, behind the others.
        const auto is_free = [this](const Whole& whole) { return !early_.contains(whole.index); };
        const auto next_free = [&] { return std::find_if(whole_.begin(), whole_.end(), is_free); };
        changed_.wait(lock,
                      [&] { return (closed_ && whole_.empty()) || next_free() != whole_.end(); });
        if (whole_.empty() || failure_) return;
        const auto place = next_free();
        const auto next = std::move(*place);
        whole_.erase(place);
        lock.unlock();
        unpack(next);
        lock.lock();
    }
}

void Unpacking::unpack(const Whole& whole) {
    {
        const std::lock_guard lock(mutex_);
        if (!folders_[whole.index].empty()) return settle(whole, folders_[whole.index]);
    }
    auto folder =
        store_.add(whole.archive, records_[whole.index], options(whole.index, whole.is_ours));
    const std::lock_guard lock(mutex_);
    settle(whole, std::move(folder));
}

void Unpacking::settle(const Whole& whole, Result<fs::path> folder) {
    std::error_code ignored;
    if (whole.is_ours) fs::remove(whole.archive, ignored);
    ++done_;
    if (folder) {
        folders_[whole.index] = *std::move(folder);
    } else if (!failure_) {
        failure_ = std::move(folder).error();
        stop_.request_stop();
        if (whole.is_ours) name_by_url(*failure_, whole.archive, records_[whole.index].url);
    }
    changed_.notify_all();
}

StoreAddOptions Unpacking::options(std::size_t index, bool verified) {
    auto options = how_;
    options.archive_verified = verified;
    options.cancelled = [this] { return stop_.stop_requested(); };
    options.on_lost_set_id = [this, index](const auto& paths) {
        const std::lock_guard lock(mutex_);
        warnings_.push_back(fmt::format(
            "{}: set-id bits removed from {}", records_[index].fn, fmt::join(paths, ", ")));
    };
    return options;
}

}  // namespace gpkg::cli
