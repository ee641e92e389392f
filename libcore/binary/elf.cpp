#include "libcore/binary/elf.hpp"

#include "libcore/base/text.hpp"
#include "libcore/binary/read_at_internal.hpp"
#include "libcore/process/process.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gpkg {
namespace {

// More than any real file has; a damaged one may claim anything.
constexpr std::uint64_t kMostHeaders = 65536;
constexpr std::uint64_t kMostTableBytes = std::uint64_t{256} << 20U;

struct Segment {
    std::uint32_t type = 0;
    std::uint64_t offset = 0, address = 0, size_in_file = 0;
};

/// "2.34" of "GLIBC_2.34"; empty for versions of other libraries.
std::string glibc_release(std::string_view version) {
    // A feature of the loader that came with this release.
    if (version == "GLIBC_ABI_DT_RELR") return "2.36";
    constexpr std::string_view kStart = "GLIBC_";
    if (!version.starts_with(kStart)) return {};
    version.remove_prefix(kStart.size());
    const bool is_release = version.find_first_not_of("0123456789.") == std::string_view::npos;
    return is_release ? std::string(version) : std::string();
}

/// Reads fields of either class and byte order.
class Reader {
public:
    Reader(int fd, const fs::path& file, std::uint64_t size) : fd_(fd), file_(file), size_(size) {}

    Result<ElfFile> read() {
        GPKG_TRY(const auto ident, bytes(0, EI_NIDENT));
        const auto elf_class = static_cast<unsigned char>(ident[EI_CLASS]);
        const auto order = static_cast<unsigned char>(ident[EI_DATA]);
        if ((elf_class != ELFCLASS32 && elf_class != ELFCLASS64) ||
            (order != ELFDATA2LSB && order != ELFDATA2MSB))
            return damaged("unknown class or byte order");
        wide_ = elf_class == ELFCLASS64;
        swap_ = (order == ELFDATA2MSB) == (std::endian::native == std::endian::little);

        ElfFile elf;
        elf.is_64_bit = wide_;
        GPKG_TRY(const auto head, bytes(0, wide_ ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr)));
        const auto type = get<std::uint16_t>(head, offsetof(Elf64_Ehdr, e_type));
        elf.machine = get<std::uint16_t>(head, offsetof(Elf64_Ehdr, e_machine));
        elf.kind = type == ET_EXEC  ? ElfFile::Kind::Executable
                   : type == ET_DYN ? ElfFile::Kind::SharedObject
                   : type == ET_REL ? ElfFile::Kind::Relocatable
                                    : ElfFile::Kind::Other;
        GPKG_TRY(const auto sections, section_types(head));
        elf.is_stripped = !has(sections, SHT_SYMTAB);
        if (type != ET_EXEC && type != ET_DYN) return elf;
        GPKG_CHECK(read_segments(head));
        if (!is_hollow(sections)) GPKG_CHECK(read_dynamic(elf));
        return elf;
    }

private:
    tl::unexpected<Error> damaged(std::string_view why) const {
        return fail(ErrorKind::Integrity,
                    fmt::format("{}: damaged ELF file: {}", file_.native(), why));
    }

    Result<std::string> bytes(std::uint64_t offset, std::uint64_t count) const {
        if (offset > size_ || count > size_ - offset) return damaged("the file is truncated");
        auto out = read_at(fd_, offset, count);
        if (out.size() < count) return damaged("read error");
        return out;
    }

    template <typename T>
    T get(const std::string& from, std::size_t at) const {
        T value{};
        std::memcpy(&value, from.data() + at, sizeof(T));
        if (!swap_) return value;
        auto* raw = reinterpret_cast<unsigned char*>(&value);
        std::reverse(raw, raw + sizeof(T));
        return value;
    }

    /// A field that is 8 bytes in 64-bit files and 4 in others.
    std::uint64_t word(const std::string& from, std::size_t at_64, std::size_t at_32) const {
        return wide_ ? get<std::uint64_t>(from, at_64) : get<std::uint32_t>(from, at_32);
    }

    Result<void> read_segments(const std::string& head) {
        const auto offset =
            word(head, offsetof(Elf64_Ehdr, e_phoff), offsetof(Elf32_Ehdr, e_phoff));
        const auto size = get<std::uint16_t>(
            head, wide_ ? offsetof(Elf64_Ehdr, e_phentsize) : offsetof(Elf32_Ehdr, e_phentsize));
        const std::uint64_t count = get<std::uint16_t>(
            head, wide_ ? offsetof(Elf64_Ehdr, e_phnum) : offsetof(Elf32_Ehdr, e_phnum));
        if (count == 0) return {};
        if (size < (wide_ ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)))
            return damaged("program headers are too small");
        GPKG_TRY(const auto table, bytes(offset, count * size));
        for (std::uint64_t i = 0; i < count; ++i) {
            const auto at = i * size;
            Segment segment;
            segment.type = get<std::uint32_t>(table, at);
            segment.offset = word(
                table, at + offsetof(Elf64_Phdr, p_offset), at + offsetof(Elf32_Phdr, p_offset));
            segment.address =
                word(table, at + offsetof(Elf64_Phdr, p_vaddr), at + offsetof(Elf32_Phdr, p_vaddr));
            segment.size_in_file = word(
                table, at + offsetof(Elf64_Phdr, p_filesz), at + offsetof(Elf32_Phdr, p_filesz));
            segments_.push_back(segment);
        }
        return {};
    }

    /// The types of the sections, the empty first one included; none where the loader could do
    /// without the table.
    Result<std::vector<std::uint32_t>> section_types(const std::string& head) const {
        std::vector<std::uint32_t> types;
        const auto offset =
            word(head, offsetof(Elf64_Ehdr, e_shoff), offsetof(Elf32_Ehdr, e_shoff));
        const auto size = get<std::uint16_t>(
            head, wide_ ? offsetof(Elf64_Ehdr, e_shentsize) : offsetof(Elf32_Ehdr, e_shentsize));
        const std::uint64_t count = get<std::uint16_t>(
            head, wide_ ? offsetof(Elf64_Ehdr, e_shnum) : offsetof(Elf32_Ehdr, e_shnum));
        if (offset == 0 || count == 0 || count > kMostHeaders) return types;
        if (size < (wide_ ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr))) return types;
        GPKG_TRY(const auto table, bytes(offset, count * size));
        types.reserve(count);
        for (std::uint64_t i = 0; i < count; ++i)
            types.push_back(get<std::uint32_t>(table, i * size + offsetof(Elf64_Shdr, sh_type)));
        return types;
    }

    static bool has(const std::vector<std::uint32_t>& sections, std::uint32_t type) {
        return std::find(sections.begin(), sections.end(), type) != sections.end();
    }

    /// Files of debug symbols keep the headers of what they were split from, without the content.
    bool is_hollow(const std::vector<std::uint32_t>& sections) const {
        return sections.size() > 1 && !has(sections, SHT_DYNAMIC) && segment(PT_DYNAMIC) != nullptr;
    }

    const Segment* segment(std::uint32_t type) const {
        const auto found = std::find_if(
            segments_.begin(), segments_.end(), [&](const auto& s) { return s.type == type; });
        return found == segments_.end() ? nullptr : &*found;
    }

    std::optional<std::uint64_t> offset_of(std::uint64_t address) const {
        for (const auto& s : segments_) {
            if (s.type == PT_LOAD && address >= s.address && address - s.address < s.size_in_file)
                return s.offset + (address - s.address);
        }
        return std::nullopt;
    }

    Result<void> read_dynamic(ElfFile& elf) {
        if (const auto* interpreter = segment(PT_INTERP)) {
            GPKG_TRY(elf.interpreter,
                     bytes(interpreter->offset,
                           std::min<std::uint64_t>(interpreter->size_in_file, 4096)));
            elf.interpreter.resize(std::strlen(elf.interpreter.c_str()));
        }
        const auto* dynamic = segment(PT_DYNAMIC);
        if (dynamic == nullptr || dynamic->size_in_file == 0) return {};
        if (dynamic->size_in_file > kMostTableBytes)
            return damaged("the dynamic section is too large");
        GPKG_TRY(const auto table, bytes(dynamic->offset, dynamic->size_in_file));

        struct Entry {
            std::uint64_t tag, value;
        };
        std::vector<Entry> entries;
        std::uint64_t strings_at = 0;
        std::uint64_t strings_size = 0;
        std::uint64_t versions_at = 0;
        std::uint64_t version_files = 0;
        bool is_program = false;
        const std::size_t step = wide_ ? sizeof(Elf64_Dyn) : sizeof(Elf32_Dyn);
        for (std::size_t at = 0; at + step <= table.size(); at += step) {
            const Entry entry{word(table, at, at), word(table, at + 8, at + 4)};
            if (entry.tag == DT_NULL) break;
            if (entry.tag == DT_STRTAB) strings_at = entry.value;
            if (entry.tag == DT_STRSZ) strings_size = entry.value;
            if (entry.tag == DT_VERNEED) versions_at = entry.value;
            if (entry.tag == DT_VERNEEDNUM) version_files = entry.value;
            if (entry.tag == DT_FLAGS_1) is_program = (entry.value & DF_1_PIE) != 0;
            entries.push_back(entry);
        }
        elf.is_dynamic = true;
        elf.is_static_pie = is_program && elf.interpreter.empty();
        const auto offset = offset_of(strings_at);
        if (strings_size == 0) return {};
        if (!offset || strings_size > kMostTableBytes) return damaged("missing string table");
        GPKG_TRY(const auto strings, bytes(*offset, strings_size));
        for (const auto& [tag, value] : entries) {
            if (tag != DT_NEEDED && tag != DT_SONAME && tag != DT_RPATH && tag != DT_RUNPATH)
                continue;
            if (value >= strings.size()) return damaged("a name is outside the string table");
            const std::string text(strings.data() + value,
                                   ::strnlen(strings.data() + value, strings.size() - value));
            if (tag == DT_NEEDED) elf.needed.push_back(text);
            if (tag == DT_SONAME) elf.soname = text;
            if (tag != DT_RPATH && tag != DT_RUNPATH) continue;
            if (text.empty()) continue;
            for (const auto entry : split(text, ':'))
                (tag == DT_RPATH ? elf.rpath : elf.runpath).emplace_back(entry);
        }
        return read_versions(versions_at, version_files, strings, elf);
    }

    /// The versions of symbols that it needs: for each library a header, then a list.
    Result<void> read_versions(std::uint64_t address,
                               std::uint64_t files,
                               const std::string& strings,
                               ElfFile& elf) const {
        auto at = address == 0 ? std::nullopt : offset_of(address);
        for (std::uint64_t file = 0; at && file < std::min(files, kMostHeaders); ++file) {
            GPKG_TRY(const auto head, bytes(*at, sizeof(Elf64_Verneed)));
            const auto count = get<std::uint16_t>(head, offsetof(Elf64_Verneed, vn_cnt));
            auto entry = *at + get<std::uint32_t>(head, offsetof(Elf64_Verneed, vn_aux));
            for (std::uint16_t i = 0; i < count; ++i) {
                GPKG_TRY(const auto aux, bytes(entry, sizeof(Elf64_Vernaux)));
                const auto name = get<std::uint32_t>(aux, offsetof(Elf64_Vernaux, vna_name));
                if (name < strings.size())
                    elf.glibc = newer_glibc(elf.glibc, glibc_release(strings.c_str() + name));
                const auto next = get<std::uint32_t>(aux, offsetof(Elf64_Vernaux, vna_next));
                if (next == 0) break;
                entry += next;
            }
            const auto next = get<std::uint32_t>(head, offsetof(Elf64_Verneed, vn_next));
            if (next == 0) break;
            *at += next;
        }
        return {};
    }

    int fd_;
    const fs::path& file_;
    std::uint64_t size_;
    bool wide_ = true;
    bool swap_ = false;
    std::vector<Segment> segments_;
};

/// Errors call it `name`.
Result<std::optional<ElfFile>> read_as(const fs::path& file, const fs::path& name) {
    const Descriptor opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct stat status {};
    if (!opened || ::fstat(opened.get(), &status) != 0) return pass(io_error(name, "read", errno));
    char magic[SELFMAG];
    if (!S_ISREG(status.st_mode) || status.st_size < EI_NIDENT ||
        ::pread(opened.get(), magic, SELFMAG, 0) != SELFMAG ||
        std::memcmp(magic, ELFMAG, SELFMAG) != 0)
        return std::nullopt;
    GPKG_TRY(auto elf,
             Reader(opened.get(), name, static_cast<std::uint64_t>(status.st_size)).read());
    return elf;
}

}  // namespace

std::string newer_glibc(const std::string& one, const std::string& other) {
    const auto numbers = [](const std::string& release) {
        std::vector<int> parts;
        for (const auto part : split(release, '.')) {
            int value = 0;
            std::from_chars(part.data(), part.data() + part.size(), value);
            parts.push_back(value);
        }
        return parts;
    };
    if (one.empty() || other.empty()) return one + other;
    return numbers(one) < numbers(other) ? other : one;
}

Result<std::optional<ElfFile>> read_elf(const fs::path& file) { return read_as(file, file); }

Result<std::optional<ElfFile>> read_elf_in(const fs::path& folder, const std::string& path) {
    return read_as(folder / path, path);
}

Result<void> set_rpath(const std::vector<fs::path>& files,
                       const std::vector<std::string>& entries,
                       const Cancelled& cancelled) {
    std::string joined;
    for (const auto& entry : entries) joined += (joined.empty() ? "" : ":") + entry;

    // Small enough that the names fit into one command line.
    constexpr std::size_t kBatch = 100;
    for (std::size_t from = 0; from < files.size(); from += kBatch) {
        ProcessCommand command;
        command.cancelled = cancelled;
        command.arguments = {"patchelf"};
        if (entries.empty()) {
            command.arguments.emplace_back("--remove-rpath");
        } else {
            command.arguments.insert(command.arguments.end(),
                                     {"--force-rpath", "--set-rpath", joined});
        }
        const auto end = std::min(files.size(), from + kBatch);
        for (std::size_t i = from; i < end; ++i) command.arguments.push_back(files[i].native());
        GPKG_TRY(const auto done, run_and_capture(command));
        if (done.exit_code != 0)
            return fail(ErrorKind::Io,
                        fmt::format("{}: patchelf cannot set the library path: {}",
                                    end - from == 1 ? files[from].native()
                                                    : fmt::format("{} or one of {} more files",
                                                                  files[from].native(),
                                                                  end - from - 1),
                                    trim(done.output)));
    }
    return {};
}

}  // namespace gpkg
