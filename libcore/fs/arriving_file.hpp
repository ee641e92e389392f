#pragma once

// A file that is read while somebody still writes it.

#include "libcore/fs/byte_source.hpp"

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

namespace gpkg {

/// How far the writing is, known to both sides, each in a thread of its own.
class ArrivingFile {
public:
    /// Of the file at `path`, which may lose that name from now on.
    static Result<std::shared_ptr<ArrivingFile>> open(const fs::path& path);
    ArrivingFile(Descriptor file, fs::path path) : file_(std::move(file)), path_(std::move(path)) {}

    /// So many more bytes can be read.
    void grow(std::size_t bytes);
    /// All of it can be read.
    void complete();
    /// What there is of it is worth nothing, and nobody shall wait for more. Either side may say
    /// so, at any time.
    void abandon();

    /// Waits until there are so many bytes; false when it ended with fewer, or is abandoned.
    bool wait_for(std::uint64_t size);
    /// Waits until it is complete; false when it is abandoned.
    bool wait_for_all();
    /// Its bytes from the first on, to the end of the completed file; waits for those that are not
    /// there yet. Once it is abandoned, an Interrupted error.
    static ByteSource source(std::shared_ptr<ArrivingFile> file);

private:
    enum class State { Growing, Complete, Abandoned };
    Result<std::size_t> read(std::uint64_t offset, char* into, std::size_t room);

    Descriptor file_;
    fs::path path_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::uint64_t size_ = 0;
    State state_ = State::Growing;
};

}  // namespace gpkg
