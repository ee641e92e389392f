#include "libcore/image/laid_out_tar_internal.hpp"

#include <algorithm>

namespace gpkg {
namespace {

/// Writes the bytes of a file that differ from its source's.
TarStream::ChangeBytes changes_of(const LaidOutFile& file) {
    if (file.changes.empty()) return {};
    return [&file](std::uint64_t at, char* bytes, std::size_t count) {
        for (const auto& change : file.changes) {
            const auto first = std::max(at, change.at);
            const auto last = std::min(at + count, change.at + change.bytes.size());
            for (auto place = first; place < last; ++place)
                bytes[place - at] = change.bytes[place - change.at];
        }
    };
}

}  // namespace

Result<void> add_laid_out(TarStream& tar, const LaidOutFile& file, const std::string& path) {
    using Type = LaidOutFile::Type;
    switch (file.type) {
    case Type::Folder: return tar.add_folder(path, file.mode);
    case Type::SoftLink: return tar.add_link(path, file.content);
    case Type::File: break;
    }
    if (file.source.empty()) return tar.add_text(path, file.mode, file.content);
    return tar.add_file(path, file.mode, file.source, changes_of(file));
}

}  // namespace gpkg
