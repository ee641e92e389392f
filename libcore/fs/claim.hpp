#pragma once

// A file that says who is at work on something. In place of a lock where there may be none, or one
// that hangs: on file systems that several machines share. Needs nothing of a file system but that
// of two who make a file at once one does, which all have.
//
// Whether a holder still lives only its own machine can tell; there a dead one's claim is taken
// over. Another machine's stands until it, or a person, takes it away.

#include "libcore/fs/descriptor.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace gpkg {

class Claim {
public:
    struct Attempt;
    /// Makes `file` in a folder that is there. No claim and no errno: somebody has it who may be at
    /// work.
    static Attempt try_to_take(const fs::path& file);

    Claim(Claim&& other) noexcept;
    Claim& operator=(Claim&& other) noexcept;
    Claim(const Claim&) = delete;
    Claim& operator=(const Claim&) = delete;
    ~Claim() { release(); }

    /// The folder was renamed.
    void moved_to(fs::path file) { file_ = std::move(file); }
    /// Removes the file, where it is still ours.
    void release();

private:
    Claim(fs::path file, std::string text) : file_(std::move(file)), text_(std::move(text)) {}
    static Attempt try_to_take(const fs::path& file, int depth);

    fs::path file_;
    std::string text_;  ///< empty: nothing is held
};

struct Claim::Attempt {
    std::optional<Claim> claim{};
    int error = 0;  ///< an errno
};

/// Whether a file's text is a claim, of whomever.
bool is_claim(std::string_view text);
/// Whether it is one of a process of this machine that is gone.
bool is_claim_of_dead(std::string_view text);
/// "process 4711 on node3, since 2026-11-24 15:12:21 UTC"; of other texts the first line.
std::string claim_holder(std::string_view text);

}  // namespace gpkg
