#include "libcore/index/shards.hpp"

#include "libcore/base/text.hpp"
#include "libcore/fs/file.hpp"
#include "libcore/index/base_url_internal.hpp"
#include "libcore/index/record_reading_internal.hpp"
#include "libcore/spec/names.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpkg {
namespace {

using namespace repodata;

constexpr std::uint64_t kNewestVersion = 1;
/// Of an index or a shard once unpacked: twenty times conda-forge's largest.
constexpr std::size_t kLargest = std::size_t{64} << 20U;

/// Runs `read` on the values of a document; `url` is named in what it is refused for.
template <typename Read>
Result<void> read_document(std::string_view packed,
                           std::string_view url,
                           std::unique_ptr<const std::string>& text,
                           const Read& read) {
    GPKG_TRY(auto unpacked, zstd_decompress(packed, url, kLargest));
    text = std::make_unique<const std::string>(std::move(unpacked));
    auto reason = [&]() -> std::string {
        const auto values = parse_msgpack(*text);
        if (!values) return values.error().message;
        try {
            read(values->front());
        } catch (const Malformed& problem) {
            return problem.reason;
        }
        return {};
    }();
    if (reason.empty()) return {};
    return fail(ErrorKind::Integrity,
                fmt::format("{}: {}", url, printable(reason, kLongestReason)),
                "try again later, or report it to the channel's maintainers");
}

}  // namespace

class ShardIndexReader {
public:
    explicit ShardIndexReader(std::string_view url) : url_(url) {}

    Result<ShardIndex> read(std::string_view packed) {
        GPKG_CHECK(read_document(
            packed, url_, index_.text_, [&](const MsgpackValue& root) { read_root(root); }));
        if (version_ > kNewestVersion)
            return fail(ErrorKind::Unsupported,
                        fmt::format("{}: unsupported shards version {} (this gpkg supports {})",
                                    url_,
                                    version_,
                                    kNewestVersion),
                        "use a newer gpkg");
        auto folder = artifact_folder(url_, shards_base_url_);
        if (!folder)
            return fail(ErrorKind::Integrity,
                        fmt::format("{}: shards_{}", url_, printable(folder.error().message)));
        index_.shard_folder_ = *std::move(folder);
        if (auto usable = artifact_folder(url_, index_.base_url_); !usable)
            return fail(ErrorKind::Integrity,
                        fmt::format("{}: {}", url_, printable(usable.error().message)));
        return std::move(index_);
    }

private:
    void read_root(const MsgpackValue& root) {
        OnlyOnce once("at the top");
        bool has_version = false;
        for_each_member(
            root, "the top level", [&](std::string_view key, const MsgpackValue& value) {
                once(key);
                if (key == "version") {
                    version_ = number_of("version", value);
                    has_version = true;
                } else if (key == "info") {
                    read_info(value);
                } else if (key == "shards") {
                    read_shards(value);
                }
            });
        if (!has_version) refuse("the version is missing");
    }

    void read_info(const MsgpackValue& info) {
        OnlyOnce once("in info");
        for_each_member(info, "info", [&](std::string_view key, const MsgpackValue& value) {
            once(key);
            if (key == "base_url") {
                index_.base_url_ = text_of(key, value);
            } else if (key == "shards_base_url") {
                shards_base_url_ = text_of(key, value);
            } else if (key == "channel_relations") {
                for_each_member(value, key, [&](std::string_view which, const MsgpackValue& to) {
                    if (which == "base") index_.relations_.base = text_of(which, to);
                    if (which == "overrides") index_.relations_.overrides = text_of(which, to);
                });
            } else if (key == "repodata_revisions" && value.kind() == MsgpackValue::Kind::Map) {
                read_revisions(value);
            }
        });
    }

    /// CEP 48: says how many records of which newer form this gpkg leaves out.
    void read_revisions(const MsgpackValue& revisions) {
        for_each_member(
            revisions, "repodata_revisions", [&](std::string_view name, const MsgpackValue& about) {
                if (name == "v3" || about.kind() != MsgpackValue::Kind::Map) return;
                std::uint64_t count = 0;
                std::string_view message;
                for_each_member(about, name, [&](std::string_view key, const MsgpackValue& value) {
                    if (key == "n_packages") count = number_of(key, value);
                    if (key == "message") message = text_of(key, value);
                });
                index_.notes_.push_back(note_on_newer(name, count, message));
            });
    }

    /// Gives what is wrong with the entry; empty where nothing is.
    static std::string read_hash(std::string_view name, const MsgpackValue& value, ShardHash& to) {
        if (!is_package_name(name)) return fmt::format("'{}' is not a package name", name);
        std::string raw;
        try {
            const auto hash = digest_of(name, value, sizeof(ShardHash), raw);
            if (hash.empty()) return fmt::format("'{}' has no hash", name);
            std::copy(hash.begin(), hash.end(), to.begin());
        } catch (const Malformed& problem) {
            return problem.reason;
        }
        return {};
    }

    void read_shards(const MsgpackValue& shards) {
        std::size_t odd = 0;
        std::string first_odd;
        for_each_member(shards, "shards", [&](std::string_view name, const MsgpackValue& value) {
            auto& entry = index_.entries_.emplace_back();
            entry.name = name;
            auto fault = read_hash(name, value, entry.hash);
            if (fault.empty()) return;
            index_.entries_.pop_back();
            if (odd++ == 0) first_odd = std::move(fault);
        });
        if (odd > 0)
            index_.notes_.push_back(fmt::format(
                "skipped {} shard{}: {}", odd, odd == 1 ? "" : "s", printable(first_odd)));
        const auto by_name = [](const ShardIndex::Entry& a, const ShardIndex::Entry& b) {
            return a.name < b.name;
        };
        auto& entries = index_.entries_;
        if (!std::is_sorted(entries.begin(), entries.end(), by_name))
            std::sort(entries.begin(), entries.end(), by_name);
        const auto twice =
            std::adjacent_find(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
                return a.name == b.name;
            });
        if (twice != entries.end())
            refuse(fmt::format("duplicate key '{}' in shards", twice->name));
    }

    std::string_view url_;
    ShardIndex index_;
    std::uint64_t version_ = 0;
    std::string_view shards_base_url_;
};

namespace {

class ShardReader {
public:
    ShardReader(std::string_view name, Shard& shard) : name_(name), shard_(shard) {}

    void read(const MsgpackValue& root) {
        OnlyOnce once("at the top");
        for_each_member(
            root, "the top level", [&](std::string_view key, const MsgpackValue& value) {
                once(key);
                if (key == "packages") {
                    read_packages(key, value, ".tar.bz2", false);
                } else if (key == "packages.conda") {
                    read_packages(key, value, ".conda", false);
                } else if (key == "v3") {
                    read_v3(value);
                } else if (key == "removed") {
                    if (const auto fault = read_removed(value, shard_.removed); !fault.empty())
                        left_out_.add(key, fault);
                }
            });
        // Not a bad record, but another shard.
        if (shard_.records.empty() && !foreign_.empty()) refuse(foreign_);
        if (auto note = left_out_.note()) shard_.notes.push_back(*std::move(note));
    }

private:
    void read_v3(const MsgpackValue& v3) {
        OnlyOnce once("in v3");
        for_each_member(v3, "v3", [&](std::string_view key, const MsgpackValue& value) {
            once(key);
            if (key == "conda" || key == "tar.bz2")
                read_packages(key, value, key == "conda" ? ".conda" : ".tar.bz2", true);
        });
    }

    void read_packages(std::string_view map,
                       const MsgpackValue& packages,
                       std::string_view extension,
                       bool is_v3) {
        for_each_member(packages, map, [&](std::string_view key, const MsgpackValue& value) {
            std::string fn(key);
            if (is_v3 && fn.ends_with(extension))
                return left_out_.add(fn, "its key must not have the extension");
            if (is_v3) fn += extension;
            auto& record = shard_.records.emplace_back();
            record.is_conda = is_conda_file(fn, extension);
            record.is_v3 = is_v3;
            const auto digest = [&](std::string_view name,
                                    const MsgpackValue& bytes,
                                    std::size_t size) { return kept_digest(name, bytes, size); };
            auto fault = read_record(value, fn, record, digest);
            if (!record.name.empty() && record.name != name_) {
                fault = fmt::format("belongs to '{}', not '{}'", record.name.substr(0, 200), name_);
                foreign_ = fmt::format("{}: {}", fn, fault);
            }
            if (fault.empty()) return;
            shard_.records.pop_back();
            left_out_.add(fn, fault);
        });
    }

    std::string_view kept_digest(std::string_view name,
                                 const MsgpackValue& value,
                                 std::size_t size) {
        std::string raw;
        const auto digest = digest_of(name, value, size, raw);
        return raw.empty() ? digest : std::string_view(shard_.digests.emplace_back(std::move(raw)));
    }

    std::string_view name_;
    Shard& shard_;
    LeftOutRecords left_out_;
    std::string foreign_;  ///< a record of another name
};

}  // namespace

const ShardHash* ShardIndex::find(std::string_view name) const {
    const auto found = std::lower_bound(
        entries_.begin(), entries_.end(), name, [](const Entry& entry, std::string_view wanted) {
            return entry.name < wanted;
        });
    return found != entries_.end() && found->name == name ? &found->hash : nullptr;
}

Result<ShardIndex> read_shard_index(std::string_view packed, std::string_view url) {
    return ShardIndexReader(url).read(packed);
}

Result<Shard> read_shard(std::string_view packed, std::string_view name, std::string_view url) {
    Shard shard;
    GPKG_CHECK(read_document(packed, url, shard.text, [&](const MsgpackValue& root) {
        ShardReader(name, shard).read(root);
    }));
    return shard;
}

}  // namespace gpkg
