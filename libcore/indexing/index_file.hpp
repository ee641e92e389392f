#pragma once

// How the indexer writes the files that clients read.

#include "libcore/indexing/publication.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// Whether that is all that is in the file.
bool holds(const fs::path& file, std::string_view bytes);

/// The text and, as NAME.zst, what it compresses to. The compressed one first: clients prefer it,
/// and the plain one tells what is current.
Result<void> add_with_zst(Publication& publication,
                          const fs::path& file,
                          const std::string& text,
                          const IndexerOptions& options);

std::size_t threads_of(const IndexerOptions& options);

/// Does them with the threads of the options. The first failure, if any.
Result<void> do_all(const std::vector<std::function<Result<void>()>>& tasks,
                    const IndexerOptions& options);

}  // namespace gpkg
