// OneIndex, where the channel is signed.

#include "libcore/channel/one_index_internal.hpp"
#include "libcore/net/url.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpkg {
namespace {

std::string_view last_part(std::string_view url) { return url.substr(url.rfind('/') + 1); }

}  // namespace

bool OneIndex::is_covered(const IndexStatement& statement) const {
    const auto& state = copy().state;
    const auto* files = statement.files_of(result_.subdir);
    if (state.missing || files == nullptr) return state.missing && files == nullptr;
    return lists(*files, last_part(state.url), state.sha256);
}

/// That the copy is what the statement says that it was kept with, and that this still counts.
Result<void> OneIndex::check_kept() const {
    if (trust_ == nullptr) return {};
    return trust_->check_kept(copy().state,
                              [this](const auto& statement) { return is_covered(statement); });
}

Result<void> OneIndex::check_told(const std::string& url, std::string_view sha256) const {
    if (!told_) return {};
    return told_->check(result_.subdir, url, sha256);
}

Result<bool> OneIndex::heed(std::shared_ptr<const SignedIndexes> told) {
    told_ = std::move(told);
    const bool is_local = result_.channel.is_local();
    if (told_->statement.files_of(result_.subdir) == nullptr) {
        if (!is_local) {
            note_missing();
        } else {
            result_.missing = true;
            result_.url = result_.channel.subdir_url(result_.subdir);
        }
        return true;
    }
    if (is_local) {
        GPKG_CHECK(copy_local());
        return true;
    }
    if (copy().is_usable && is_covered(told_->statement)) {
        auto& state = copy().state;
        state.checked_at = now_;
        state.statement = told_->bytes;
        save_state();
        use_cached();
        return true;
    }
    plan();
    if (!asks_.empty()) return false;
    return distrust(TrustFault::Missing,
                    fmt::format("{}: the signed statement lists no readable index",
                                result_.channel.subdir_url(result_.subdir)));
}

Result<void> OneIndex::go_without(Error error) {
    if (error.kind == ErrorKind::Network && keep_any_copy(error)) return {};
    return pass(std::move(error));
}

/// What is verified has to be what is read: of a local file that is a copy, which nobody changes.
Result<void> OneIndex::copy_local() {
    GPKG_CHECK(read_local());
    if (result_.missing)
        return distrust(
            TrustFault::Missing,
            fmt::format("{}: not found, but the signed statement lists it", result_.url));
    GPKG_CHECK(make_folders(options_.cache));
    incoming_ = whole_.cache.incoming();
    std::error_code code;
    fs::copy_file(result_.path, incoming_, code);
    if (code) return pass(io_error(result_.path, "copy", code.value()));
    GPKG_TRY(const auto sha256, sha256_of_file(incoming_));
    if (auto as_told = check_told(result_.url, sha256); !as_told) {
        fs::remove(incoming_, code);
        return as_told;
    }
    CachedState state;
    const auto extension = result_.url.ends_with(".zst") ? ".json.zst" : ".json";
    GPKG_CHECK(whole_.cache.adopt(incoming_, sha256, extension, state));
    result_.path = whole_.cache.path_of(state);
    result_.sha256 = sha256;
    return {};
}

}  // namespace gpkg
