#include "libcore/channel/open_index.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/channel/early_records_internal.hpp"
#include "libcore/channel/index_cache_internal.hpp"
#include "libcore/index/repodata.hpp"

#include <cerrno>
#include <fmt/format.h>
#include <sys/stat.h>
#include <utility>

namespace gpkg {
namespace {

/// What the bytes are known by: their checksum, where the fetch has it; of a local file, which may
/// change under our feet, what the system says of it.
std::string origin_text(const FetchedIndex& fetched, const struct stat& status) {
    if (!fetched.sha256.empty()) return fetched.sha256;
    return hex_digest(DigestKind::Sha256,
                      fmt::format("{}\n{} {} {} {}.{:09} {}.{:09}",
                                  fetched.path.native(),
                                  status.st_dev,
                                  status.st_ino,
                                  status.st_size,
                                  status.st_mtim.tv_sec,
                                  status.st_mtim.tv_nsec,
                                  status.st_ctim.tv_sec,
                                  status.st_ctim.tv_nsec));
}

ByteSource until_stopped(ByteSource bytes, std::stop_token stop) {
    return [bytes = std::move(bytes), stop = std::move(stop)](
               char* into, std::size_t room) -> Result<std::size_t> {
        if (stop.stop_requested()) return fail(ErrorKind::Interrupted, "interrupted");
        return bytes(into, room);
    };
}

/// All records of it. What went wrong while it was read early is told by reading it again.
Result<IndexWriter> read_records(const FetchedIndex& fetched,
                                 const IndexSource& source,
                                 const fs::path& folder,
                                 const std::stop_token& stop) {
    if (fetched.early) {
        const std::stop_callback on_stop(stop, [&] { fetched.early->abandon(); });
        if (auto early = fetched.early->take()) return *std::move(early);
    }
    IndexWriter writer(folder);
    GPKG_TRY(auto bytes, repodata_source(fetched.path, source));
    GPKG_CHECK(read_repodata(until_stopped(std::move(bytes), stop), source, writer));
    return writer;
}

Result<void> make_index(const FetchedIndex& fetched,
                        const IndexSource& source,
                        const IndexOrigin& origin,
                        const fs::path& folder,
                        const fs::path& file,
                        const std::stop_token& stop) {
    GPKG_CHECK(make_folders(folder));
    GPKG_TRY(auto writer, read_records(fetched, source, folder, stop));
    GPKG_TRY(auto made, NewFile::make(file));
    GPKG_CHECK(write_index(std::move(writer), origin, source, [&](std::string_view part) {
        return made.write(part);
    }));
    return made.finish(false);  // what a crash damages is noticed, and made anew
}

}  // namespace

Result<std::shared_ptr<const ChannelIndex>> open_index(const FetchedIndex& fetched,
                                                       const fs::path& cache,
                                                       const std::stop_token& stop) {
    if (fetched.index) return fetched.index;
    const IndexSource source{fetched.channel.base_url(), fetched.subdir, fetched.url};
    const auto shared = [](ChannelIndex index) {
        return std::make_shared<const ChannelIndex>(std::move(index));
    };
    const auto in_memory = [&]() -> Result<std::shared_ptr<const ChannelIndex>> {
        GPKG_TRY(auto index, read_repodata_file(fetched.path, source));
        return shared(std::move(index));
    };
    if (fetched.missing) {
        GPKG_TRY(auto empty, read_repodata("", source));
        return shared(std::move(empty));
    }
    struct stat status {};
    if (::stat(fetched.path.c_str(), &status) != 0)
        return pass(io_error(fetched.path, "read", errno));
    if (static_cast<std::uint64_t>(status.st_size) < kSmallRepodata) return in_memory();

    const auto text = origin_text(fetched, status);
    const auto origin = origin_of(text);
    const IndexCache place(cache, fetched.channel.subdir_url(fetched.subdir));
    const auto file = place.index_file(text);
    if (auto made = ChannelIndex::open(file, source, origin)) {
        if (fetched.early) fetched.early->stop();
        return shared(*std::move(made));
    }
    auto done = make_index(fetched, source, origin, cache, file, stop);
    if (!done && done.error().kind == ErrorKind::Io) return in_memory();
    if (!done) return pass(std::move(done).error());
    place.prune(text);
    GPKG_TRY(auto index, ChannelIndex::open(file, source, origin));
    return shared(std::move(index));
}

}  // namespace gpkg
