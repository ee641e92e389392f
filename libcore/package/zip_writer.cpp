#include "libcore/package/zip_writer_internal.hpp"

#include <array>
#include <cerrno>
#include <ctime>
#include <fmt/format.h>

namespace gpkg {
namespace {

constexpr std::uint64_t k32Bits = 0xFFFFFFFF;  // stands for "see the zip64 field"
constexpr std::uint16_t kVersion = 20;
constexpr std::uint16_t kVersionZip64 = 45;

/// Little-endian fields, appended.
class Fields {
public:
    Fields& u16(std::uint64_t value) { return bytes(value, 2); }
    Fields& u32(std::uint64_t value) { return bytes(value, 4); }
    Fields& u64(std::uint64_t value) { return bytes(value, 8); }
    Fields& text(std::string_view value) {
        text_ += value;
        return *this;
    }
    std::string take() { return std::move(text_); }

private:
    Fields& bytes(std::uint64_t value, int count) {
        for (int i = 0; i < count; ++i, value >>= 8U) text_ += static_cast<char>(value & 0xFFU);
        return *this;
    }
    std::string text_;
};

/// MS-DOS date and time in UTC, two seconds fine, 1980 to 2107.
std::uint32_t dos_time(std::int64_t timestamp) {
    constexpr std::int64_t kFirst = 315532800;  // 1980-01-01
    constexpr std::int64_t kLast = 4354819198;  // 2107-12-31 23:59:58
    const std::time_t time = std::min(std::max(timestamp, kFirst), kLast);
    std::tm utc{};
    ::gmtime_r(&time, &utc);
    const auto bits = [](int value) { return static_cast<std::uint32_t>(value); };
    return (bits(utc.tm_year - 80) << 25U) | (bits(utc.tm_mon + 1) << 21U) |
           (bits(utc.tm_mday) << 16U) | (bits(utc.tm_hour) << 11U) | (bits(utc.tm_min) << 5U) |
           (bits(utc.tm_sec) / 2);
}

using CrcTables = std::array<std::array<std::uint32_t, 256>, 8>;

/// Tables for eight bytes at a time: table k advances a byte over k more zero bytes.
constexpr CrcTables make_crc_tables() {
    CrcTables tables{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t crc = i;
        for (int bit = 0; bit < 8; ++bit)
            crc = (crc & 1U) != 0 ? 0xEDB88320U ^ (crc >> 1U) : crc >> 1U;
        tables[0][i] = crc;
    }
    for (std::size_t i = 0; i < 256; ++i) {
        for (std::size_t k = 1; k < 8; ++k) {
            const auto before = tables[k - 1][i];
            tables[k][i] = tables[0][before & 0xFFU] ^ (before >> 8U);
        }
    }
    return tables;
}

constexpr CrcTables kCrcTables = make_crc_tables();

}  // namespace

std::uint32_t crc32(std::uint32_t so_far, std::string_view bytes) {
    const auto at = [&](std::size_t i) {
        return static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i]));
    };
    auto crc = ~so_far;
    while (bytes.size() >= 8) {
        const auto low = crc ^ (at(0) | at(1) << 8U | at(2) << 16U | at(3) << 24U);
        crc = kCrcTables[7][low & 0xFFU] ^ kCrcTables[6][(low >> 8U) & 0xFFU] ^
              kCrcTables[5][(low >> 16U) & 0xFFU] ^ kCrcTables[4][low >> 24U] ^
              kCrcTables[3][at(4)] ^ kCrcTables[2][at(5)] ^ kCrcTables[1][at(6)] ^
              kCrcTables[0][at(7)];
        bytes.remove_prefix(8);
    }
    for (std::size_t i = 0; i < bytes.size(); ++i)
        crc = kCrcTables[0][(crc ^ at(i)) & 0xFFU] ^ (crc >> 8U);
    return ~crc;
}

ZipWriter::ZipWriter(int fd, std::string name, std::int64_t timestamp)
    : fd_(fd), name_(std::move(name)), dos_time_(dos_time(timestamp)) {}

Result<void> ZipWriter::put(std::string_view bytes) {
    if (!write_fully(fd_, bytes)) return pass(io_error(name_, "write", errno));
    position_ += bytes.size();
    return {};
}

std::string ZipWriter::local_header(const Entry& entry) const {
    Fields fields;
    fields.u32(0x04034B50).u16(entry.large ? kVersionZip64 : kVersion).u16(0).u16(0);
    fields.u32(dos_time_).u32(entry.crc);
    fields.u32(entry.large ? k32Bits : entry.size).u32(entry.large ? k32Bits : entry.size);
    fields.u16(entry.name.size()).u16(entry.large ? 20 : 0).text(entry.name);
    if (entry.large) fields.u16(1).u16(16).u64(entry.size).u64(entry.size);
    return fields.take();
}

std::string ZipWriter::directory_entry(const Entry& entry) const {
    Fields extra;
    if (entry.large) extra.u64(entry.size).u64(entry.size);
    const bool far = entry.offset >= k32Bits;
    if (far) extra.u64(entry.offset);
    const auto extra_bytes = extra.take();
    const auto version = entry.large || far ? kVersionZip64 : kVersion;
    constexpr std::uint16_t kUnix = 3U << 8U;
    Fields fields;
    fields.u32(0x02014B50).u16(kUnix | version).u16(version).u16(0).u16(0);
    fields.u32(dos_time_).u32(entry.crc);
    fields.u32(entry.large ? k32Bits : entry.size).u32(entry.large ? k32Bits : entry.size);
    fields.u16(entry.name.size()).u16(extra_bytes.empty() ? 0 : extra_bytes.size() + 4);
    fields.u16(0).u16(0).u16(0).u32(std::uint64_t{0100644} << 16U);
    fields.u32(far ? k32Bits : entry.offset).text(entry.name);
    if (!extra_bytes.empty()) fields.u16(1).u16(extra_bytes.size()).text(extra_bytes);
    return fields.take();
}

Result<void> ZipWriter::begin(std::string_view member, bool large) {
    entries_.push_back({std::string(member), 0, 0, position_, large});
    return put(local_header(entries_.back()));
}

Result<void> ZipWriter::write(std::string_view bytes) {
    auto& entry = entries_.back();
    entry.crc = crc32(entry.crc, bytes);
    entry.size += bytes.size();
    return put(bytes);
}

Result<void> ZipWriter::end() {
    const auto& entry = entries_.back();
    if (!entry.large && entry.size >= k32Bits)
        return fail(ErrorKind::Unsupported, fmt::format("{}: {} exceeds 4 GiB", name_, entry.name));
    const auto header = local_header(entry);
    auto left = std::string_view(header);
    auto offset = static_cast<off_t>(entry.offset);
    while (!left.empty()) {
        const auto count = ::pwrite(fd_, left.data(), left.size(), offset);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return pass(io_error(name_, "write", errno));
        left.remove_prefix(static_cast<std::size_t>(count));
        offset += count;
    }
    return {};
}

Result<void> ZipWriter::finish() {
    const auto start = position_;
    bool zip64 = start >= k32Bits;
    for (const auto& entry : entries_) {
        zip64 = zip64 || entry.large;
        GPKG_CHECK(put(directory_entry(entry)));
    }
    const auto size = position_ - start;
    const auto count = entries_.size();
    if (zip64) {
        const auto record = position_;
        Fields fields;
        fields.u32(0x06064B50).u64(44).u16(kVersionZip64).u16(kVersionZip64).u32(0).u32(0);
        fields.u64(count).u64(count).u64(size).u64(start);
        fields.u32(0x07064B50).u32(0).u64(record).u32(1);
        GPKG_CHECK(put(fields.take()));
    }
    Fields fields;
    fields.u32(0x06054B50).u16(0).u16(0).u16(count).u16(count).u32(size);
    fields.u32(std::min(start, k32Bits)).u16(0);
    return put(fields.take());
}

}  // namespace gpkg
