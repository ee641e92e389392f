#include "libcore/image/oci_layout.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/base/json_text.hpp"
#include "libcore/fs/workplace.hpp"
#include "libcore/image/laid_out_tar_internal.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <utility>

namespace gpkg {
namespace {

using Json = nlohmann::ordered_json;

/// What names content: its media type, digest and size.
struct Blob {
    std::string type;
    std::string digest;  ///< sha256, in hex
    std::uint64_t size = 0;

    Json descriptor() const {
        return {{"mediaType", type}, {"digest", "sha256:" + digest}, {"size", size}};
    }
};

struct Layer {
    Blob blob;
    std::string uncompressed;  ///< sha256 of the tar
    unsigned kept_from = 0;    ///< bits of a mode, of those who may not read what is in it
    std::vector<std::string> warnings;
};

/// As Go names them, which OCI takes over.
std::string_view architecture_of(std::string_view platform) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kNames{
        {{"linux-64", "amd64"},
         {"linux-32", "386"},
         {"linux-aarch64", "arm64"},
         {"linux-armv7l", "arm"},
         {"linux-ppc64le", "ppc64le"},
         {"linux-s390x", "s390x"}}};
    const auto found = std::find_if(
        kNames.begin(), kNames.end(), [&](const auto& name) { return name.first == platform; });
    if (found != kNames.end()) return found->second;
    return platform.starts_with("linux-") ? platform.substr(6) : platform;
}

constexpr int kUsualGzipLevel = 6;

class LayoutWriter {
public:
    LayoutWriter(const Transaction& environment, const ImageOptions& options, fs::path folder)
        : environment_(environment), options_(options), folder_(std::move(folder)) {}

    Result<std::vector<std::string>> write();

private:
    Result<Layer> write_layer();
    Result<Blob> write_blob(std::string type, const Json& document, unsigned kept_from = 0);
    Json config_of(const Layer& layer) const;
    fs::path blob_path(const std::string& digest) const {
        return folder_ / "blobs/sha256" / digest;
    }

    const Transaction& environment_;
    const ImageOptions& options_;
    fs::path folder_;
};

Result<Layer> LayoutWriter::write_layer() {
    const auto file = folder_ / "layer";
    GPKG_TRY(auto output, NewFile::make(file));
    GPKG_CHECK(output.make_private());
    Hasher packed(DigestKind::Sha256);
    Hasher plain(DigestKind::Sha256);
    Layer layer;
    // What all read: container tools of a few years ago know no zstd.
    layer.blob.type = "application/vnd.oci.image.layer.v1.tar+gzip";
    const auto sink = [&](std::string_view bytes) {
        packed.update(bytes);
        layer.blob.size += bytes.size();
        return output.write(bytes);
    };
    TarStreamOptions how;
    how.time = options_.time;
    how.compression = TarCompression::Gzip;
    how.level = options_.level.value_or(kUsualGzipLevel);
    how.cancelled = options_.layout.transaction.cancelled;
    how.before_compression = [&](std::string_view bytes) { plain.update(bytes); };
    GPKG_TRY(auto tar, TarStream::open(sink, how));
    const auto place = options_.info.mount_point.native().substr(1);
    for (auto slash = place.find('/'); slash != std::string::npos;
         slash = place.find('/', slash + 1))
        GPKG_CHECK(tar.add_folder(place.substr(0, slash)));
    GPKG_CHECK(tar.add_folder(place));
    GPKG_TRY(layer.warnings, lay_out(environment_, options_.layout, [&](const LaidOutFile& one) {
                 layer.kept_from |= one.kept_from();
                 return add_laid_out(tar, one, place + "/" + one.path);
             }));
    GPKG_CHECK(tar.close());
    output.keep_from(layer.kept_from);
    GPKG_CHECK(output.finish(true));
    layer.blob.digest = std::move(packed).hex();
    layer.uncompressed = std::move(plain).hex();
    GPKG_CHECK(rename_path(file, blob_path(layer.blob.digest)));
    return layer;
}

Result<Blob> LayoutWriter::write_blob(std::string type, const Json& document, unsigned kept_from) {
    const auto text = json_text(document);
    Blob blob{std::move(type), hex_digest(DigestKind::Sha256, text), text.size()};
    GPKG_TRY(auto output, NewFile::make(blob_path(blob.digest)));
    GPKG_CHECK(output.make_private());
    GPKG_CHECK(output.write(text));
    output.keep_from(kept_from);
    GPKG_CHECK(output.finish(true));
    return blob;
}

Json LayoutWriter::config_of(const Layer& layer) const {
    const auto time =
        fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(options_.time)));
    const auto& place = options_.info.mount_point.native();
    Json variables = Json::array();
    variables.push_back(fmt::format(
        "PATH={}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", place));
    variables.push_back("CONDA_PREFIX=" + place);
    for (const auto& [name, value] : environment_.variables) {
        if (value) variables.push_back(fmt::format("{}={}", name, *value));
    }
    return {{"created", time},
            {"architecture", architecture_of(options_.info.platform)},
            {"os", "linux"},
            {"config",
             {{"Env", std::move(variables)},
              {"Labels", {{"org.opencontainers.image.title", options_.info.name}}}}},
            {"rootfs", {{"type", "layers"}, {"diff_ids", {"sha256:" + layer.uncompressed}}}},
            {"history", {{{"created", time}, {"created_by", options_.info.made_by}}}}};
}

Result<std::vector<std::string>> LayoutWriter::write() {
    constexpr const char* kManifest = "application/vnd.oci.image.manifest.v1+json";
    GPKG_CHECK(make_folders(folder_ / "blobs/sha256"));
    GPKG_TRY(auto layer, write_layer());
    GPKG_TRY(
        const auto config,
        // It has the variables.
        write_blob("application/vnd.oci.image.config.v1+json", config_of(layer), layer.kept_from));
    GPKG_TRY(const auto manifest,
             write_blob(kManifest,
                        {{"schemaVersion", 2},
                         {"mediaType", kManifest},
                         {"config", config.descriptor()},
                         {"layers", Json::array({layer.blob.descriptor()})}}));
    auto entry = manifest.descriptor();
    entry["platform"] = {{"architecture", architecture_of(options_.info.platform)},
                         {"os", "linux"}};
    entry["annotations"] = {{"org.opencontainers.image.ref.name", options_.info.name}};
    const Json index = {{"schemaVersion", 2},
                        {"mediaType", "application/vnd.oci.image.index.v1+json"},
                        {"manifests", Json::array({std::move(entry)})}};
    GPKG_CHECK(write_file_atomically(folder_ / "index.json", json_text(index)));
    GPKG_CHECK(write_file_atomically(folder_ / "oci-layout",
                                     json_text(Json{{"imageLayoutVersion", "1.0.0"}})));
    return std::move(layer.warnings);
}

}  // namespace

Result<std::vector<std::string>> write_oci_layout(const Transaction& environment,
                                                  const fs::path& folder,
                                                  const ImageOptions& options) {
    // Not in the workplace, which may be on another disk.
    GPKG_TRY(const auto beside, make_workplace(folder.parent_path()));
    const auto made = beside.path() / "layout";
    GPKG_TRY(auto warnings, LayoutWriter(environment, options, made).write());
    GPKG_CHECK(rename_path(made, folder));
    return warnings;
}

}  // namespace gpkg
