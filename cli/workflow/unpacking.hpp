#pragma once

// Packages into the store as they arrive: whole archives one after the other, large ones already
// while they are on their way.

#include "libcore/base/parallel.hpp"
#include "libcore/fs/arriving_file.hpp"
#include "libcore/package/store.hpp"
#include "libcore/spec/package_record.hpp"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <vector>

namespace gpkg::cli {

/// In threads of its own or, where none are to be had, in add(). Memory is that of kUnpackers and
/// kEarlyUnpackers archives.
class Unpacking {
public:
    static constexpr std::size_t kUnpackers = 2;
    static constexpr std::size_t kEarlyUnpackers = 2;
    /// Smaller archives are there before a thread has looked at them.
    static constexpr std::uint64_t kEarlyFrom = std::uint64_t{8} << 20U;

    /// `how`: what holds for all of them. The first failure requests `stop`: nothing more need
    /// arrive. References outlive this.
    Unpacking(const PackageStore& store,
              const std::vector<PackageRecord>& records,
              const StoreAddOptions& how,
              std::stop_source& stop);
    ~Unpacking();
    Unpacking(const Unpacking&) = delete;
    Unpacking& operator=(const Unpacking&) = delete;

    /// The archive of records[index] began to arrive, perhaps anew.
    void arrives(std::size_t index, std::shared_ptr<ArrivingFile> archive);
    /// It is there. Its file is removed after unpacking if it is ours.
    void add(std::size_t index, fs::path archive, bool is_ours);

    /// Waits for the rest: the folders of all records, or the first failure.
    Result<std::vector<fs::path>> finish();
    /// After that: what is to be said of packages that were unpacked.
    const std::vector<std::string>& warnings() const { return warnings_; }

    std::size_t done();
    bool is_failing();

private:
    struct Whole {
        std::size_t index = 0;
        fs::path archive;
        bool is_ours = false;
    };
    struct Arriving {
        std::size_t index = 0;
        std::shared_ptr<ArrivingFile> archive;
    };

    void unpack_whole();
    void unpack_arriving();
    void unpack(const Whole& whole);
    void settle(const Whole& whole, Result<fs::path> folder);
    StoreAddOptions options(std::size_t index, bool verified);
    void close();

    const PackageStore& store_;
    const std::vector<PackageRecord>& records_;
    StoreAddOptions how_;
    std::stop_source& stop_;

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Whole> whole_;        ///< to be unpacked
    std::deque<Arriving> arriving_;  ///< likewise, by who has nothing better to do
    std::map<std::size_t, std::shared_ptr<ArrivingFile>> early_;  ///< being unpacked
    std::vector<fs::path> folders_;
    std::vector<std::string> warnings_;
    bool closed_ = false;
    std::size_t done_ = 0;
    std::optional<Error> failure_;
    Workers early_workers_;  // last: they use all of the above
    Workers workers_;
};

}  // namespace gpkg::cli
