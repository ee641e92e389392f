#include "libcore/net/mirrors.hpp"

#include "libcore/net/url.hpp"

#include <algorithm>

namespace gpkg {
namespace {

bool is_below(std::string_view url, std::string_view base) {
    return url.starts_with(base) && (url.size() == base.size() || url[base.size()] == '/');
}

bool is_on_server(std::string_view url) { return !url.starts_with("file:"); }

}  // namespace

const MirroredPlace* Mirrors::place_of(std::string_view url) const {
    const auto clean = without_secrets(url);
    const MirroredPlace* best = nullptr;
    for (const auto& place : places_) {
        if (place.mirrors.empty() || !is_below(clean, place.base)) continue;
        if (best == nullptr || place.base.size() > best->base.size()) best = &place;
    }
    return best;
}

std::vector<std::string> Mirrors::in_order(const MirroredPlace& place) {
    const std::lock_guard lock(mutex_);
    auto order = place.mirrors;
    const auto rank = [&](const std::string& mirror) {
        const auto found = std::find(failed_.begin(), failed_.end(), mirror);
        return found == failed_.end() ? 0 : found - failed_.begin() + 1;
    };
    std::stable_sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
        return rank(a) < rank(b);
    });
    return order;
}

void Mirrors::failed(const std::string& mirror, const Error& why) {
    const std::lock_guard lock(mutex_);
    if (std::find(failed_.begin(), failed_.end(), mirror) != failed_.end()) return;
    failed_.push_back(mirror);
    if (on_failed_) on_failed_(without_secrets(mirror), why);
}

bool needs_network(const Mirrors* mirrors, std::string_view url) {
    const auto* place = mirrors == nullptr ? nullptr : mirrors->place_of(url);
    if (place == nullptr) return is_on_server(url);
    return std::all_of(place->mirrors.begin(), place->mirrors.end(), is_on_server);
}

MirrorChoice::MirrorChoice(Mirrors* mirrors, std::string_view url, bool offline)
    : mirrors_(mirrors), place_(mirrors == nullptr ? nullptr : mirrors->place_of(url)) {
    if (place_ == nullptr) return;
    order_ = mirrors_->in_order(*place_);
    if (offline) std::erase_if(order_, is_on_server);
}

std::string MirrorChoice::of(const std::string& url) const {
    if (place_ == nullptr) return url;
    const auto& mirror = order_[at_];
    // The login of the place itself is for it alone.
    if (mirror == place_->base) return url;
    return mirror + without_secrets(url).substr(place_->base.size());
}

bool MirrorChoice::next(Error& error) {
    if (place_ == nullptr) return false;
    if (error.kind == ErrorKind::NotFound) {
        lacking_.emplace_back(order_[at_], error);
    } else if (order_.size() > 1) {
        mirrors_->failed(order_[at_], error);
    }
    if (has_next()) {
        ++at_;
        return true;
    }
    if (!lacking_.empty()) error = lacking_.front().second;
    return false;
}

void MirrorChoice::succeeded() {
    for (const auto& [mirror, why] : lacking_) mirrors_->failed(mirror, why);
}

}  // namespace gpkg
