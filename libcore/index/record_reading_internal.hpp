#pragma once

// Reads a record, from whatever holds its fields: json_fields_internal.hpp and
// msgpack_fields_internal.hpp have the same functions for their values.

#include "libcore/index/json_fields_internal.hpp"
#include "libcore/index/msgpack_fields_internal.hpp"
#include "libcore/index/record_rules_internal.hpp"

#include <fmt/format.h>

namespace gpkg::repodata {

/// CEP 44: what each group adds.
template <typename Value>
void read_extras(std::string_view key, const Value& value, IndexRecord& record) {
    OnlyOnce once("in extra_depends");
    for_each_member(value, key, [&](std::string_view group, const Value& specs) {
        once(group);
        record.extras.push_back({group, {}});
        append_texts(key, specs, record.extras.back().specs);
    });
}

/// `digest(key, value, size)` gives the raw bytes of a checksum, which live as long as the record.
template <typename Value, typename Digest>
void read_field(
    std::string_view name, Key key, const Value& value, IndexRecord& record, const Digest& digest) {
    switch (key) {
    case Key::Build: record.build = text_of(name, value); break;
    case Key::BuildNumber: record.build_number = number_of(name, value); break;
    case Key::Constrains: append_texts(name, value, record.constrains); break;
    case Key::Depends: append_texts(name, value, record.depends); break;
    case Key::ExtraDepends: read_extras(name, value, record); break;
    case Key::Flags: append_texts(name, value, record.flags); break;
    case Key::IndexedTimestamp: record.indexed_timestamp = moment_of(name, value); break;
    case Key::License: record.license = text_of(name, value); break;
    case Key::LicenseFamily: record.license_family = text_of(name, value); break;
    case Key::Md5: record.md5 = digest(name, value, 16); break;
    case Key::Name: record.name = text_of(name, value); break;
    case Key::Noarch: record.noarch = noarch_of(name, value); break;
    case Key::PythonSitePackagesPath:
        if (!is_null(value)) record.python_site_packages_path = text_of(name, value);
        break;
    case Key::Sha256: record.sha256 = digest(name, value, 32); break;
    case Key::Size: record.size = number_of(name, value); break;
    case Key::Timestamp: record.timestamp = moment_of(name, value); break;
    case Key::TrackFeatures: append_features(name, value, record.track_features); break;
    case Key::Version: record.version = text_of(name, value); break;
    case Key::Other: break;
    }
}

template <typename Value, typename Digest>
void read_fields(const Value& value, IndexRecord& record, const Digest& digest) {
    std::uint32_t seen = 0;
    for_each_member(value, "the record", [&](std::string_view name, const Value& field) {
        const auto key = key_of(name);
        if (key == Key::Other) return;
        const auto bit = 1U << static_cast<unsigned>(key);
        if ((seen & bit) != 0) refuse(fmt::format("duplicate key '{}'", name));
        seen |= bit;
        read_field(name, key, field, record, digest);
    });
}

/// Gives what is wrong with the list; empty where nothing is. Names before the fault are kept.
template <typename Value>
std::string read_removed(const Value& value, std::vector<std::string_view>& names) {
    try {
        append_texts("removed", value, names);
        return {};
    } catch (const Malformed& problem) {
        return problem.reason;
    }
}

/// Reads what stands under `fn` into `record`, of which `is_conda` and `is_v3` are set and
/// nothing else. Gives why it is left out; empty where it is not.
template <typename Value, typename Digest>
std::string read_record(const Value& value,
                        std::string_view fn,
                        IndexRecord& record,
                        const Digest& digest) {
    try {
        read_fields(value, record, digest);
        return fault_of(record, fn);
    } catch (const Malformed& problem) {
        return problem.reason;
    }
}

}  // namespace gpkg::repodata
