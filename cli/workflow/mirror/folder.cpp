#include "cli/workflow/mirror/folder.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/fs/temporary.hpp"
#include "libcore/indexing/index_memory.hpp"
#include "libcore/spec/names.hpp"
#include "libcore/trust/fault.hpp"
#include "libcore/trust/signed_text.hpp"

#include <fmt/format.h>

namespace gpkg::cli {
namespace {

/// Whether nothing is left there, but for what the indexer remembers; then it is gone.
bool remove_if_empty(const fs::path& folder) {
    std::vector<fs::directory_entry> entries;
    std::error_code code;
    fs::directory_iterator item(folder, code);
    for (; !code && item != fs::directory_iterator(); item.increment(code))
        entries.push_back(*item);
    bool is_empty = !code;
    for (const auto& entry : entries) {
        const auto name = entry.path().filename().native();
        if (name == kMemoryName) continue;
        const bool is_ours = !name.starts_with('.') && fs::is_directory(entry.symlink_status(code));
        is_empty = is_ours && remove_if_empty(entry.path()) && is_empty;
    }
    if (!is_empty) return false;
    fs::remove(folder / kMemoryName, code);
    return fs::remove(folder, code);
}

}  // namespace

Result<ReadManifest> read_manifest(const fs::path& file, const std::vector<std::string>& keys) {
    const auto bytes = read_file(file, kLongestWritten);
    if (!bytes && is_there(file.parent_path() / kManifestBefore) && !is_there(file))
        return fail(
            ErrorKind::NotFound,
            fmt::format("{}: missing: gpkg mirror is running or was interrupted", file.native()),
            "run gpkg mirror again");
    if (!bytes) return pass(bytes.error());
    GPKG_TRY(const auto text, SignedText::parse(*bytes, file.native()));
    if (!keys.empty()) {
        const auto verified = text.verify({keys, 1}, file.native());
        if (!verified && text.is_signed() && trust_fault(verified.error()) == TrustFault::WrongKey)
            return distrust(
                TrustFault::WrongKey,
                fmt::format("{}: not signed with any key given with --key", file.native()));
        GPKG_CHECK(verified);
    }
    ReadManifest read;
    GPKG_TRY(read.manifest, MirrorManifest::parse(text.text(), file.native()));
    read.digest = hex_digest(DigestKind::Sha256, text.text());
    read.is_signed = text.is_signed();
    return read;
}

Result<Claim> claim_mirror(const fs::path& mirror) {
    const auto turn = mirror / ".gpkg-mirror-busy";
    auto attempt = Claim::try_to_take(turn);
    if (attempt.error != 0) return pass(io_error(turn, "make", attempt.error));
    if (!attempt.claim)
        return fail(ErrorKind::Conflict,
                    fmt::format("{}: in use by {}",
                                mirror.native(),
                                claim_holder(read_file(turn).value_or("another gpkg mirror"))),
                    fmt::format("if it has ended, remove {}", turn.native()));
    remove_dead_temporaries(mirror);
    return *std::move(attempt.claim);
}

Result<std::size_t> remove_from_mirror(const fs::path& mirror,
                                       const std::vector<std::string>& paths,
                                       const std::map<std::string, std::string>& channels) {
    std::size_t packages = 0;
    for (const auto& path : paths) {
        std::error_code code;
        const bool was_there = fs::remove(mirror / path, code);
        if (code) return pass(io_error(mirror / path, "remove", code.value()));
        if (was_there && !package_extension(path).empty()) ++packages;
    }
    for (const auto& [name, url] : channels) remove_if_empty(mirror / name);
    return packages;
}

}  // namespace gpkg::cli
