#pragma once

// Shards and their index (CEP 16), made of JSON for tests: "sha256" and "md5" in hex become bytes.

#include "libcore/base/digest.hpp"
#include "libcore/fs/file.hpp"

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace gpkg::tests {

inline nlohmann::json bytes_of_hex(const std::string& hex) {
    std::vector<std::uint8_t> raw;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
        raw.push_back(static_cast<std::uint8_t>(std::stoi(hex.substr(i, 2), nullptr, 16)));
    return nlohmann::json::binary(raw);
}

inline std::string as_msgpack(const nlohmann::json& json) {
    const auto bytes = nlohmann::json::to_msgpack(json);
    return {bytes.begin(), bytes.end()};
}

/// A shard as it is served.
inline std::string packed_shard(nlohmann::json json) {
    for (const auto* map : {"packages", "packages.conda"}) {
        if (!json.contains(map)) continue;
        for (auto& record : json[map]) {
            for (const auto* key : {"md5", "sha256"}) {
                if (record.contains(key)) record[key] = bytes_of_hex(record[key]);
            }
        }
    }
    return zstd_compress(as_msgpack(json), 3);
}

/// A shard index as it is served; `shards` are name and sha256 in hex.
inline std::string packed_shard_index(const std::map<std::string, std::string>& shards,
                                      nlohmann::json info = {{"subdir", "linux-64"},
                                                             {"base_url", "./"},
                                                             {"shards_base_url", "./shards/"}},
                                      int version = 1) {
    nlohmann::json json{{"version", version}, {"info", std::move(info)}};
    json["shards"] = nlohmann::json::object();
    for (const auto& [name, hash] : shards) json["shards"][name] = bytes_of_hex(hash);
    return zstd_compress(as_msgpack(json), 3);
}

}  // namespace gpkg::tests
