#include "libcore/base/digest.hpp"
#include "libcore/base/number.hpp"
#include "libcore/base/percent.hpp"
#include "libcore/base/text.hpp"
#include "libcore/net/oci_internal.hpp"
#include "libcore/net/url.hpp"
#include "libcore/yaml/node.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <utility>

namespace gpkg {
namespace {

constexpr std::string_view kManifests =
    "Accept: application/vnd.oci.image.manifest.v1+json, "
    "application/vnd.docker.distribution.manifest.v2+json";

/// Characters of versions and builds that tags cannot have.
std::string tag_of(std::string_view version_and_build) {
    std::string tag;
    for (const char c : version_and_build) {
        switch (c) {
        case '+': tag += "__p__"; break;
        case '!': tag += "__e__"; break;
        case '=': tag += "__eq__"; break;
        default: tag += c;
        }
    }
    return tag;
}

bool is_this_machine(std::string_view host) {
    return host == "localhost" || host == "[::1]" ||
           (host.starts_with("127.") &&
            host.find_first_not_of("0123456789.") == std::string_view::npos);
}

/// The value of `name` in "Bearer realm="...",service="..."".
std::string parameter(std::string_view challenge, std::string_view name) {
    const auto key = fmt::format("{}=\"", name);
    const auto at = challenge.find(key);
    if (at == std::string_view::npos) return {};
    const auto value = challenge.substr(at + key.size());
    return std::string(value.substr(0, value.find('"')));
}

/// The text of a key of a JSON object, which is YAML as well; empty where it has none.
std::string text_at(std::string_view json, std::string_view key) {
    const auto document = yaml::Node::parse(json, "token");
    const auto* node = document ? document->find(key) : nullptr;
    return node == nullptr ? "" : node->text();
}

struct Layer {
    std::string digest;
    std::uint64_t size = 0;
};

/// The first of that type; without a digest where none is there.
Layer layer_of(std::string_view manifest, std::string_view media_type) {
    const auto document = yaml::Node::parse(manifest, "manifest");
    const auto* layers = document ? document->find("layers") : nullptr;
    if (layers == nullptr) return {};
    for (const auto& layer : layers->items()) {
        const auto* type = layer.find("mediaType");
        const auto* digest = layer.find("digest");
        if (type == nullptr || digest == nullptr || type->text() != media_type) continue;
        constexpr std::string_view kSha256 = "sha256:";
        const auto& text = digest->text();
        if (!text.starts_with(kSha256) || !is_hex(text.substr(kSha256.size()), 64)) continue;
        const auto* size = layer.find("size");
        return {text, size == nullptr ? 0 : whole_number<std::uint64_t>(size->text()).value_or(0)};
    }
    return {};
}

/// The last two labels of a host; empty for an address, and where the first of them is as short as
/// in "co.uk".
std::string_view domain_of(std::string_view host) {
    constexpr std::size_t kLongestOfRegistrars = 3;
    const auto last = host.rfind('.');
    if (last == std::string_view::npos || last == 0 || host.starts_with('[') ||
        host.find_first_not_of("0123456789.") == std::string_view::npos)
        return {};
    const auto before = host.rfind('.', last - 1);
    const auto domain = before == std::string_view::npos ? host : host.substr(before + 1);
    return domain.find('.') <= kLongestOfRegistrars ? std::string_view() : domain;
}

}  // namespace

std::optional<OciFile> OciFile::of(std::string_view text) {
    const auto url = Url::parse(text);
    if (!url || url->scheme != "oci") return std::nullopt;
    const auto slash = url->path.rfind('/');
    auto path = percent_decode(url->path);
    if (!path || slash == std::string::npos || slash == 0) return std::nullopt;
    const auto cut = path->rfind('/');
    auto folder = path->substr(1, cut - 1);
    const std::string_view name = std::string_view(*path).substr(cut + 1);

    OciFile file;
    file.registry = (is_this_machine(url->host) ? "http://" : "https://") + url->host +
                    (url->port.empty() ? "" : ":" + url->port);
    if (name == "repodata.json" || name == "repodata.json.zst") {
        file.repository = folder + "/repodata.json";
        file.tag = "latest";
        file.media_type = "application/vnd.conda.repodata.v1+json";
        if (name.ends_with(".zst")) file.media_type += "+zst";
        return file;
    }
    constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kPackages = {
        {{".conda", "application/vnd.conda.package.v2"},
         {".tar.bz2", "application/vnd.conda.package.v1"}}};
    for (const auto& [extension, type] : kPackages) {
        if (!name.ends_with(extension)) continue;
        const auto stem = name.substr(0, name.size() - extension.size());
        const auto build = stem.rfind('-');
        const auto version = build == std::string_view::npos || build == 0
                                 ? std::string_view::npos
                                 : stem.rfind('-', build - 1);
        if (version == std::string_view::npos || version == 0) return std::nullopt;
        // What a repository is called begins with a letter or a digit.
        file.repository = fmt::format(
            "{}/{}{}", folder, stem.starts_with('_') ? "zzz" : "", stem.substr(0, version));
        file.tag = tag_of(stem.substr(version + 1));
        file.media_type = type;
        return file;
    }
    return std::nullopt;
}

bool is_same_site(std::string_view host, std::string_view other) {
    const auto is_below = [](std::string_view below, std::string_view above) {
        return below.size() > above.size() && below.ends_with(above) &&
               below[below.size() - above.size() - 1] == '.' &&
               above.find('.') != std::string_view::npos;
    };
    if (host == other) return true;
    const auto domain = domain_of(host);
    return is_below(host, other) || is_below(other, host) ||
           (!domain.empty() && domain == domain_of(other));
}

std::optional<std::string> token_url(std::string_view challenge, const OciFile& file) {
    if (!to_lower(challenge.substr(0, 7)).starts_with("bearer ")) return std::nullopt;
    auto url = Url::parse(parameter(challenge, "realm"));
    if (!url || (url->scheme != "https" && !is_this_machine(url->host))) return std::nullopt;
    const auto scope = parameter(challenge, "scope");
    url->query += fmt::format(
        "{}scope={}",
        url->query.empty() ? "" : "&",
        percent_encode(scope.empty() ? "repository:" + file.repository + ":pull" : scope));
    const auto service = parameter(challenge, "service");
    if (!service.empty()) url->query += "&service=" + percent_encode(service);
    return url->to_string();
}

std::string OciSteps::url() const {
    if (step_ == Step::Token) return token_url_;
    return fmt::format("{}/v2/{}/{}/{}",
                       file_.registry,
                       file_.repository,
                       step_ == Step::Manifest ? "manifests" : "blobs",
                       step_ == Step::Manifest ? file_.tag : digest_);
}

std::vector<std::string> OciSteps::headers(std::string_view asked) const {
    std::vector<std::string> lines;
    if (step_ == Step::Manifest) lines.emplace_back(kManifests);
    // A redirect leads to a store of blobs, which the token is not for.
    const bool is_registry = asked.starts_with(file_.registry + "/v2/");
    if (step_ != Step::Token && !token_.empty() && is_registry)
        lines.push_back("Authorization: Bearer " + token_);
    return lines;
}

bool OciSteps::may_have_login() const {
    const auto registry = Url::parse(file_.registry);
    const auto asked = Url::parse(url());
    if (!registry || !asked) return false;
    return registry->origin() == asked->origin() ||
           (registry->scheme == "https" && asked->scheme == "https" &&
            is_same_site(registry->host, asked->host));
}

OciSteps::Next OciSteps::refused(std::string_view challenge) {
    if (auto url = token_url(challenge, file_); url && !asked_for_token_) {
        asked_for_token_ = true;
        token_url_ = *std::move(url);
        after_token_ = std::exchange(step_, Step::Token);
        return Next::Ask;
    }
    if (!to_lower(challenge.substr(0, 6)).starts_with("basic ") || basic_) return Next::Give;
    basic_ = true;
    return Next::Ask;
}

OciSteps::Next OciSteps::answered(int status, std::string_view challenge, std::string_view body) {
    if (status == 401 && step_ != Step::Token) return refused(challenge);
    if (status != 200) return Next::Give;
    if (step_ == Step::Token) {
        token_ = text_at(body, "token");
        if (token_.empty()) token_ = text_at(body, "access_token");
        if (token_.empty() || token_.find_first_of("\r\n") != std::string::npos)
            return Next::Refused;
        step_ = after_token_;
        return Next::Ask;
    }
    if (step_ == Step::Blob) return Next::Give;
    auto layer = layer_of(body, file_.media_type);
    digest_ = std::move(layer.digest);
    size_ = layer.size;
    if (digest_.empty()) return Next::Absent;
    step_ = Step::Blob;
    return Next::Ask;
}

}  // namespace gpkg
