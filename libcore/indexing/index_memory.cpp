#include "libcore/indexing/index_memory.hpp"

#include "libcore/base/text.hpp"

#include <charconv>
#include <fmt/format.h>
#include <iterator>
#include <sys/stat.h>
#include <xxhash.h>

namespace gpkg {
namespace {

// Its number is raised when what is remembered changes its meaning.
constexpr std::string_view kFirstLine = "gpkg index 3\n";
constexpr std::string_view kLastLine = "end\t";

/// The fields of one line, first to last.
class Fields {
public:
    explicit Fields(std::string_view line) : rest_(line) {}

    std::string_view next() {
        const auto end = rest_.find('\t');
        const auto field = rest_.substr(0, end);
        rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
        return field;
    }
    std::string text() { return std::string(next()); }
    template <typename Number>
    Number number() {
        const auto field = next();
        Number value = 0;
        std::from_chars(field.data(), field.data() + field.size(), value);
        return value;
    }

private:
    std::string_view rest_;
};

std::string checksum(std::string_view bytes) {
    return fmt::format("{:016x}", XXH3_64bits(bytes.data(), bytes.size()));
}

void read_line(std::string_view line, IndexMemory& memory) {
    Fields fields(line);
    const auto kind = fields.next();
    if (kind == "package") {
        auto name = fields.text();
        IndexedPackage package;
        package.size = fields.number<std::uint64_t>();
        package.changed_ns = fields.number<std::int64_t>();
        package.built_ms = fields.number<std::int64_t>();
        package.indexed_ms = fields.number<std::int64_t>();
        package.is_v3 = fields.next() == "v3";
        package.oddity = fields.text();
        package.record = fields.text();
        package.run_exports = fields.text();
        package.variant = fields.text();
        package.channeldata = fields.text();
        memory.packages.emplace_hint(memory.packages.end(), std::move(name), std::move(package));
    } else if (kind == "name") {
        auto name = fields.text();
        IndexedName one{fields.text(), fields.text(), fields.text()};
        memory.names.emplace_hint(memory.names.end(), std::move(name), std::move(one));
    } else if (kind == "withdrawn") {
        memory.withdrawn.insert(fields.text());
    } else if (kind == "unused") {
        auto shard = fields.text();
        memory.unused_shards.emplace(std::move(shard), fields.number<std::int64_t>());
    }
}

/// What stands between the first and the last line, if those are right.
std::optional<std::string_view> checked_body(std::string_view text,
                                             std::optional<FileStamp>& repodata) {
    if (!text.starts_with(kFirstLine)) return std::nullopt;
    const auto last = text.rfind(kLastLine);
    if (last == std::string_view::npos || !text.ends_with('\n')) return std::nullopt;
    const auto body = text.substr(kFirstLine.size(), last - kFirstLine.size());
    Fields fields(text.substr(last + kLastLine.size()));
    if (fields.next() != checksum(body)) return std::nullopt;
    const FileStamp stamp{fields.number<std::uint64_t>(),
                          fields.number<std::int64_t>(),
                          fields.number<std::uint64_t>()};
    if (stamp.inode != 0) repodata = stamp;
    return body;
}

}  // namespace

std::optional<FileStamp> FileStamp::of(const fs::path& file) {
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
    return FileStamp{static_cast<std::uint64_t>(status.st_size),
                     std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec,
                     status.st_ino};
}

IndexMemory read_index_memory(const fs::path& file) {
    IndexMemory memory;
    const auto text = read_file(file);
    if (!text) return memory;
    auto body = checked_body(*text, memory.repodata);
    if (!body) return memory;
    while (!body->empty()) {
        const auto end = body->find('\n');
        if (end == std::string_view::npos) return {};
        read_line(body->substr(0, end), memory);
        body->remove_prefix(end + 1);
    }
    return memory;
}

Result<void> write_index_memory(const fs::path& file, const IndexMemory& memory) {
    std::string text(kFirstLine);
    std::size_t size = 0;
    for (const auto& [name, package] : memory.packages)
        size += name.size() + package.record.size() + package.run_exports.size() +
                package.variant.size() + package.channeldata.size() + package.oddity.size() + 100;
    text.reserve(size);  // to grow step by step would copy all of it twice
    auto out = std::back_inserter(text);
    for (const auto& [name, package] : memory.packages) {
        fmt::format_to(out,
                       "package\t{}\t{}\t{}\t{}\t{}\t{}\t{}",
                       name,
                       package.size,
                       package.changed_ns,
                       package.built_ms,
                       package.indexed_ms,
                       package.is_v3 ? "v3" : "",
                       package.oddity);
        for (const auto* field :
             {&package.record, &package.run_exports, &package.variant, &package.channeldata})
            text.append(1, '\t').append(*field);
        text += '\n';
    }
    for (const auto& name : memory.withdrawn) fmt::format_to(out, "withdrawn\t{}\n", name);
    for (const auto& [name, one] : memory.names)
        fmt::format_to(out, "name\t{}\t{}\t{}\t{}\n", name, one.inputs, one.shard, one.findings);
    for (const auto& [shard, since] : memory.unused_shards)
        fmt::format_to(out, "unused\t{}\t{}\n", shard, since);
    const auto stamp = memory.repodata.value_or(FileStamp{});
    const auto sum = checksum(std::string_view(text).substr(kFirstLine.size()));
    fmt::format_to(
        out, "{}{}\t{}\t{}\t{}\n", kLastLine, sum, stamp.size, stamp.changed_ns, stamp.inode);
    // Not forced to the disk: its checksum tells what a crash left of it.
    GPKG_TRY(auto whole, NewFile::make(file));
    GPKG_CHECK(whole.write(text));
    return whole.finish(false);
}

}  // namespace gpkg
