#include "libcore/base/digest.hpp"
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

std::string digest_of_layer(std::string_view manifest, std::string_view media_type) {
    const auto document = yaml::Node::parse(manifest, "manifest");
    const auto* layers = document ? document->find("layers") : nullptr;
    if (layers == nullptr) return {};
    for (const auto& layer : layers->items()) {
        const auto* type = layer.find("mediaType");
        const auto* digest = layer.find("digest");
        if (type == nullptr || digest == nullptr || type->text() != media_type) continue;
        constexpr std::string_view kSha256 = "sha256:";
        const auto& text = digest->text();
        if (text.starts_with(kSha256) && is_hex(text.substr(kSha256.size()), 64)) return text;
    }
    return {};
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
    digest_ = digest_of_layer(body, file_.media_type);
    if (digest_.empty()) return Next::Absent;
    step_ = Step::Blob;
    return Next::Ask;
}

}  // namespace gpkg
