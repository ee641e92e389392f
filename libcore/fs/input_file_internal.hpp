#pragma once

// A file that is read from its front to its end, and may be a pipe.

#include "libcore/fs/descriptor.hpp"

#include <cstddef>

namespace gpkg {

class InputFile {
public:
    /// A pipe with a name is opened whether or not somebody writes into it.
    static Result<InputFile> open(fs::path path);

    /// What the system promises; pipes and files of /proc say that they are empty.
    std::size_t size() const { return size_; }
    /// Up to `room` bytes, waiting for them as long as there is a writer; 0 at the end. A pipe that
    /// nobody opens for writing within seconds is an error.
    Result<std::size_t> read(char* into, std::size_t room);

private:
    InputFile(fs::path path, Descriptor file) : path_(std::move(path)), file_(std::move(file)) {}

    fs::path path_;
    Descriptor file_;
    std::size_t size_ = 0;
    bool has_no_writer_yet_ = false;
};

}  // namespace gpkg
