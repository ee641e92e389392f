#pragma once

// The prefix a package was built in, replaced by the prefix it is installed in (CEP 34; the rules
// beyond it are those conda, mamba and rattler share).

#include "libcore/base/error.hpp"
#include "libcore/fs/file.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// Every occurrence. A first line "#!" whose interpreter the kernel could not start from the new
/// prefix (more than 127 bytes, or a space in its path) is rewritten: python is started by way of
/// /bin/sh, others are looked up on PATH.
std::string replace_in_text(std::string_view bytes,
                            std::string_view placeholder,
                            std::string_view prefix);

/// The same with another way to replace: it is given the program of that line, the words behind it,
/// and the other lines.
std::string replace_in_text(std::string_view bytes,
                            const std::function<std::string(std::string_view)>& replace);

/// replace_in_text() of a file that is too large to be held. `put` takes the text in pieces, and
/// returns 0 or an errno, with which this ends.
Result<int> replace_in_text_file(const fs::path& file,
                                 std::string_view placeholder,
                                 std::string_view prefix,
                                 const std::function<int(std::string_view piece)>& put);

/// Refuses a text that would grow beyond measure: a short placeholder many times over (Integrity).
/// `what` names the file in the message.
Result<void> check_growth(const fs::path& file,
                          std::string_view placeholder,
                          std::string_view prefix,
                          std::string_view what);

/// Inside each string that ends in NUL, or at the end of the file; the string keeps its length and
/// is filled up with NULs. UTF-8, UTF-16 and UTF-32 of both byte orders. Integrity when the prefix
/// is longer than the placeholder; `what` names the file in the message.
Result<std::string> replace_in_binary(std::string_view bytes,
                                      std::string_view placeholder,
                                      std::string_view prefix,
                                      std::string_view what);

/// Bytes of a file, and where they stand.
struct ByteChange {
    std::uint64_t at = 0;
    std::string bytes;
};

/// What replace_in_binary() would change, of a file that is too large to be held: only its strings
/// with the placeholder are. In no order; they do not overlap.
Result<std::vector<ByteChange>> changes_in_binary(const fs::path& file,
                                                  std::string_view placeholder,
                                                  std::string_view prefix,
                                                  std::string_view what);

/// Whether the file has the placeholder as UTF-16 or UTF-32.
Result<bool> names_in_wide_characters(const fs::path& file, std::string_view placeholder);

/// "#!<program><arguments>", or the two lines that do the same where the kernel could not.
/// No line break at the end.
std::string shebang(std::string_view program, std::string_view arguments);

}  // namespace gpkg
