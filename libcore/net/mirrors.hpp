#pragma once

// Files that can be had from several servers. What is asked for, and what records, locks and caches
// keep, is the URL below the place itself; a mirror is only where the bytes come from.

#include "libcore/base/error.hpp"

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpkg {

struct MirroredPlace {
    std::string base;                  ///< a URL without secrets and without a slash at its end
    std::vector<std::string> mirrors;  ///< asked in its place, in this order; may hold credentials
};

/// Told once for each mirror that fails: its URL without secrets, and why.
using OnMirrorFailed = std::function<void(const std::string& mirror, const Error& why)>;

/// The mirrors of a run. One that failed is asked after all others from then on. May be used by
/// several threads; the callback is not called by two at a time.
class Mirrors {
public:
    Mirrors(std::vector<MirroredPlace> places, OnMirrorFailed on_failed)
        : places_(std::move(places)), on_failed_(std::move(on_failed)) {}

private:
    friend class MirrorChoice;
    friend bool needs_network(const Mirrors* mirrors, std::string_view url);
    const MirroredPlace* place_of(std::string_view url) const;
    std::vector<std::string> in_order(const MirroredPlace& place);
    void failed(const std::string& mirror, const Error& why);

    std::vector<MirroredPlace> places_;
    OnMirrorFailed on_failed_;
    std::mutex mutex_;
    std::vector<std::string> failed_;  ///< in the order of their failures
};

/// Whether only a server has `url`: neither it nor, where it is mirrored, any of its mirrors is a
/// file. Without `mirrors` it is read where it says. This decides what --offline may read.
bool needs_network(const Mirrors* mirrors, std::string_view url);

/// Which mirror is asked for one file, over all tries.
class MirrorChoice {
public:
    /// `url` may have credentials. Without mirrors of it there is one choice: `url`. With
    /// `offline`, only mirrors that are folders are asked; `url` must not need the network.
    MirrorChoice(Mirrors* mirrors, std::string_view url, bool offline);

    bool is_mirrored() const { return place_ != nullptr; }
    bool has_next() const { return at_ + 1 < order_.size(); }
    /// Where to ask for `url`, of the same place.
    std::string of(const std::string& url) const;
    /// The one at hand failed. True: there is another one to ask. False: `error` is what to tell of
    /// all of them, which is that there is no such file if any said so.
    bool next(Error& error);
    /// The one at hand had the file: those that said that there is none are behind the times.
    void succeeded();

private:
    Mirrors* mirrors_ = nullptr;
    const MirroredPlace* place_ = nullptr;
    std::vector<std::string> order_;
    std::size_t at_ = 0;
    std::vector<std::pair<std::string, Error>> lacking_;
};

}  // namespace gpkg
