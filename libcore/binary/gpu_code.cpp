#include "libcore/binary/gpu_code.hpp"

#include "libcore/base/number.hpp"
#include "libcore/base/text.hpp"
#include "libcore/binary/read_at_internal.hpp"
#include "libcore/fs/descriptor.hpp"
#include "libcore/hardware/gpu_targets.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

namespace gpkg {
namespace {

/// nvcc's container: this header, then entries, each a header and its code (fatbinary_section.h and
/// fatBinaryCtl.h of the CUDA toolkit name the first; the entries' is what cuobjdump reads).
constexpr std::uint32_t kFatbinMagic = 0xba55ed50;
constexpr std::uint64_t kFatbinHeader = 16;
constexpr std::uint64_t kEntryHeader = 64;
constexpr std::uint16_t kPtx = 1;
constexpr std::uint16_t kSass = 2;
/// Flags of an entry, seen in what nvcc 13.0 writes for sm_90a, compute_120a, sm_120f and
/// compute_120f beside sm_90, compute_80 and sm_120.
constexpr std::uint32_t kIsSpecific = 0x100000;
constexpr std::uint32_t kIsOfFamily = 0x200000;
/// Machine code is ELF for this machine.
constexpr std::uint16_t kMachineOfCuda = 190;
constexpr std::string_view kArchiveMagic = "!<arch>\n";
/// clang's container of code for several targets ("Clang Offload Bundler", Bundled Binary File
/// Layout).
constexpr std::string_view kBundleMagic = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::uint64_t kMostTargets = 1000;

/// Bytes of a file. Of a section, the name is its; of a member of a static library, nobody's.
struct Extent {
    std::string name;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
};

/// A file of which little is looked at, in places far apart.
class File {
public:
    explicit File(fs::path path) : path_(std::move(path)) {}

    Result<std::uint64_t> size() const {
        std::error_code code;
        const auto size = fs::file_size(path_, code);
        if (code)
            return fail(ErrorKind::Io,
                        fmt::format("{}: cannot read: {}", path_.native(), code.message()));
        return size;
    }

    Result<void> open() {
        // A pipe may have nobody at its other end.
        file_ = Descriptor(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
        if (!file_)
            return fail(ErrorKind::Io,
                        fmt::format("{}: cannot open: {}", path_.native(), std::strerror(errno)));
        return {};
    }

    /// As much of `count` bytes as there is.
    std::string some(std::uint64_t offset, std::uint64_t count) const {
        return read_at(file_.get(), offset, count);
    }

    Result<std::string> all(std::uint64_t offset, std::uint64_t count) const {
        auto bytes = some(offset, count);
        if (bytes.size() < count)
            return fail(ErrorKind::Integrity,
                        fmt::format("{}: damaged file: truncated", path_.native()));
        return bytes;
    }

private:
    fs::path path_;
    Descriptor file_;
};

template <typename T>
T get(const std::string& bytes, std::size_t at) {
    T value{};
    std::memcpy(&value, bytes.data() + at, sizeof(T));
    return value;
}

bool is_elf(std::string_view head) {
    return head.size() >= sizeof(Elf64_Ehdr) && head.starts_with(ELFMAG) &&
           head[EI_CLASS] == ELFCLASS64 && head[EI_DATA] == ELFDATA2LSB;
}

/// Of the ELF file at `base`, which may be a member of a library.
Result<std::vector<Extent>> sections_of(const File& file,
                                        const Elf64_Ehdr& elf,
                                        std::uint64_t base) {
    std::vector<Extent> sections;
    if (elf.e_shoff == 0 || elf.e_shentsize != sizeof(Elf64_Shdr) || elf.e_shnum == 0 ||
        elf.e_shstrndx >= elf.e_shnum)
        return sections;
    GPKG_TRY(const auto table,
             file.all(base + elf.e_shoff, std::uint64_t{elf.e_shnum} * sizeof(Elf64_Shdr)));
    const auto header = [&](std::size_t place) {
        return get<Elf64_Shdr>(table, place * sizeof(Elf64_Shdr));
    };
    const auto names_at = header(elf.e_shstrndx);
    constexpr std::uint64_t kLongestNames = 1U << 20U;
    const auto names = file.some(base + names_at.sh_offset,
                                 std::min<std::uint64_t>(names_at.sh_size, kLongestNames));
    for (std::size_t place = 0; place < elf.e_shnum; ++place) {
        const auto section = header(place);
        if (section.sh_type == SHT_NOBITS || section.sh_name >= names.size()) continue;
        sections.push_back(
            {names.c_str() + section.sh_name, base + section.sh_offset, section.sh_size});
    }
    return sections;
}

std::optional<CudaTarget> target_of(std::uint32_t capability, std::uint32_t flags) {
    constexpr std::uint32_t kHighest = 1000;
    if (capability == 0 || capability >= kHighest) return std::nullopt;
    using Features = CudaTarget::Features;
    return CudaTarget{static_cast<int>(capability),
                      (flags & kIsSpecific) != 0   ? Features::Specific
                      : (flags & kIsOfFamily) != 0 ? Features::Family
                                                   : Features::Plain};
}

/// The entries of one container; gives how long it is.
Result<std::uint64_t> read_container(const File& file,
                                     std::uint64_t at,
                                     std::uint64_t end,
                                     GpuCode& code) {
    GPKG_TRY(const auto head, file.all(at, kFatbinHeader));
    const auto header_size = std::uint64_t{get<std::uint16_t>(head, 6)};
    const auto length = header_size + get<std::uint64_t>(head, 8);
    if (header_size < kFatbinHeader || length > end - at)
        return fail(ErrorKind::Integrity, "damaged GPU code: longer than its section");
    for (auto entry = at + header_size; entry + kEntryHeader <= at + length;) {
        GPKG_TRY(const auto bytes, file.all(entry, kEntryHeader));
        const auto kind = get<std::uint16_t>(bytes, 0);
        const auto entry_header = std::uint64_t{get<std::uint32_t>(bytes, 4)};
        const auto size = get<std::uint64_t>(bytes, 8);
        const auto capability = get<std::uint32_t>(bytes, 28);
        const auto flags = get<std::uint32_t>(bytes, 40);
        if (entry_header < kEntryHeader || entry_header > length || size > length) break;
        if (const auto target = target_of(capability, flags)) {
            if (kind == kSass) code.sass.insert(*target);
            if (kind == kPtx) code.ptx.insert(*target);
        }
        entry += entry_header + size;
    }
    return length;
}

/// Containers one behind the other, with zeros between them.
Result<void> read_fatbins(const File& file, const Extent& section, GpuCode& code) {
    const auto end = section.offset + section.size;
    for (auto at = section.offset; at + kFatbinHeader <= end;) {
        const auto magic = file.some(at, sizeof(kFatbinMagic));
        if (magic.size() < sizeof(kFatbinMagic)) break;
        if (get<std::uint32_t>(magic, 0) != kFatbinMagic) {
            at += 8;
            continue;
        }
        GPKG_TRY(const auto length, read_container(file, at, end, code));
        at = (at + length + 7) / 8 * 8;
    }
    return {};
}

/// "gfx90a:xnack-" of "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-"; empty for the host's code.
std::string gfx_of(std::string_view id) {
    const auto at = id.rfind("gfx");
    return at == std::string_view::npos ? std::string() : std::string(id.substr(at));
}

/// Whether code with these features runs with those of a device: what one of them does not say
/// goes with both (LLVM, "User Guide for AMDGPU Backend", Target ID).
bool features_agree(const std::vector<std::string_view>& code,
                    const std::vector<std::string_view>& device) {
    return std::none_of(code.begin() + 1, code.end(), [&](std::string_view feature) {
        auto opposite = std::string(feature);
        if (opposite.empty()) return false;
        opposite.back() = opposite.back() == '+' ? '-' : '+';
        return std::find(device.begin() + 1, device.end(), opposite) != device.end();
    });
}

Result<void> read_bundles(const File& file, const Extent& section, GpuCode& code) {
    const auto end = section.offset + section.size;
    // Bundles are aligned to pages.
    constexpr std::uint64_t kPage = 4096;
    for (auto at = section.offset; at + kBundleMagic.size() + 8 <= end; at += kPage) {
        const auto head = file.some(at, kBundleMagic.size() + 8);
        if (!head.starts_with(kBundleMagic) || head.size() < kBundleMagic.size() + 8) continue;
        const auto count = get<std::uint64_t>(head, kBundleMagic.size());
        auto entry = at + head.size();
        for (std::uint64_t i = 0; i < std::min(count, kMostTargets); ++i) {
            GPKG_TRY(const auto bytes, file.all(entry, 24));
            const auto length = get<std::uint64_t>(bytes, 16);
            constexpr std::uint64_t kLongestId = 256;
            if (length > kLongestId) break;
            GPKG_TRY(const auto id, file.all(entry + 24, length));
            if (auto target = gfx_of(id); !target.empty()) code.gfx.insert(std::move(target));
            entry += 24 + length;
        }
    }
    return {};
}

/// What ptxas says of itself in machine code from CUDA 12.8 on: "-arch sm_120a -m 64". Features are
/// told nowhere else there.
std::optional<CudaTarget> target_in_note(std::string_view note) {
    constexpr std::string_view kOption = "-arch sm_";
    const auto at = note.find(kOption);
    if (at == std::string_view::npos) return std::nullopt;
    const auto name = note.substr(at + 6);
    const auto code =
        parse_cuda_code(name.substr(0, name.find_first_of(std::string_view(" \0", 2))));
    return code ? std::optional(code->target) : std::nullopt;
}

/// By the flags of its header (LLVM, BinaryFormat/ELF.h, EF_CUDA_*), of either layout.
std::optional<CudaTarget> target_in_flags(const Elf64_Ehdr& elf) {
    constexpr unsigned char kLaterLayout = 8;
    const bool is_later = elf.e_ident[EI_ABIVERSION] >= kLaterLayout;
    const auto capability = is_later ? elf.e_flags >> 8U & 0xffU : elf.e_flags & 0xffU;
    const bool is_specific = (elf.e_flags & (is_later ? 0x8U : 0x800U)) != 0;
    return target_of(capability, is_specific ? kIsSpecific : 0);
}

Result<void> read_elf_code(const File& file, const Extent& whole, GpuCode& code) {
    const auto elf = get<Elf64_Ehdr>(file.some(whole.offset, sizeof(Elf64_Ehdr)), 0);
    GPKG_TRY(const auto sections, sections_of(file, elf, whole.offset));
    std::optional<CudaTarget> noted;
    for (const auto& section : sections) {
        Result<void> read;
        if (section.name == ".nv_fatbin" || section.name == "__nv_relfatbin")
            read = read_fatbins(file, section, code);
        if (section.name == ".hip_fatbin") read = read_bundles(file, section, code);
        if (!read) return pass(std::move(read).error().while_doing(section.name));
        constexpr std::uint64_t kLongestNote = 1U << 16U;
        if (section.name == ".note.nv.tkinfo")
            noted = target_in_note(
                file.some(section.offset, std::min<std::uint64_t>(section.size, kLongestNote)));
    }
    if (elf.e_machine != kMachineOfCuda) return {};
    if (!noted) noted = target_in_flags(elf);
    if (noted) code.sass.insert(*noted);
    return {};
}

/// One thing that can hold code: a file, or a member of a static library.
Result<void> read_one(const File& file, const Extent& whole, GpuCode& code) {
    const auto head =
        file.some(whole.offset, std::min<std::uint64_t>(whole.size, sizeof(Elf64_Ehdr)));
    if (is_elf(head)) return read_elf_code(file, whole, code);
    if (head.size() >= sizeof(kFatbinMagic) && get<std::uint32_t>(head, 0) == kFatbinMagic)
        return read_fatbins(file, whole, code);
    return {};
}

/// The members of a static library (ar(5)).
Result<void> read_archive(const File& file, std::uint64_t size, GpuCode& code) {
    constexpr std::uint64_t kHeader = 60, kSizeAt = 48, kSizeLength = 10;
    for (std::uint64_t at = kArchiveMagic.size(); at + kHeader <= size;) {
        GPKG_TRY(const auto head, file.all(at, kHeader));
        const auto digits = trim(std::string_view(head).substr(kSizeAt, kSizeLength));
        const auto length = whole_number<std::uint64_t>(digits);
        if (!length || *length > size - at - kHeader)
            return fail(ErrorKind::Integrity, "damaged static library");
        GPKG_CHECK(read_one(file, {"", at + kHeader, *length}, code));
        at += kHeader + *length + *length % 2;
    }
    return {};
}

template <typename T>
std::set<T> difference(const std::set<T>& some, const std::set<T>& others) {
    std::set<T> rest;
    std::set_difference(
        some.begin(), some.end(), others.begin(), others.end(), std::inserter(rest, rest.end()));
    return rest;
}

}  // namespace

void GpuCode::add(const GpuCode& more) {
    sass.insert(more.sass.begin(), more.sass.end());
    ptx.insert(more.ptx.begin(), more.ptx.end());
    gfx.insert(more.gfx.begin(), more.gfx.end());
}

GpuCode GpuCode::without(const GpuCode& other) const {
    return {difference(sass, other.sass), difference(ptx, other.ptx), difference(gfx, other.gfx)};
}

Result<GpuCode> read_gpu_code(const fs::path& path) {
    File file(path);
    GPKG_CHECK(file.open());
    GPKG_TRY(const auto size, file.size());
    GpuCode code;
    const bool is_archive = file.some(0, kArchiveMagic.size()) == kArchiveMagic;
    auto read = is_archive ? read_archive(file, size, code) : read_one(file, {"", 0, size}, code);
    if (!read) return pass(std::move(read).error().while_doing(path.native()));
    return code;
}

CodeRuns runs_on_nvidia(const GpuCode& code, const Version& capability) {
    const auto device = CudaTarget::of(capability);
    const auto any = [&](const std::set<CudaTarget>& targets,
                         bool (*runs)(CudaTarget, CudaTarget)) {
        return std::any_of(
            targets.begin(), targets.end(), [&](CudaTarget one) { return runs(one, device); });
    };
    if (any(code.sass, runs_natively)) return CodeRuns::Natively;
    return any(code.ptx, runs_as_ptx) ? CodeRuns::Compiled : CodeRuns::No;
}

CodeRuns runs_on_amd(const GpuCode& code, std::string_view target) {
    const auto device = split(target, ':');
    const auto generic = generic_target(device.front());
    const bool runs = std::any_of(code.gfx.begin(), code.gfx.end(), [&](const auto& one) {
        const auto made_for = split(one, ':');
        const bool is_it =
            made_for.front() == device.front() || (!generic.empty() && made_for.front() == generic);
        return is_it && features_agree(made_for, device);
    });
    return runs ? CodeRuns::Natively : CodeRuns::No;
}

std::string to_string(const GpuCode& code) {
    const auto texts = [](const std::set<CudaTarget>& all) {
        std::vector<std::string> items;
        items.reserve(all.size());
        for (const auto one : all) items.push_back(one.to_string());
        return items;
    };
    std::vector<std::string> parts;
    constexpr std::size_t kMost = 20;
    if (!code.sass.empty())
        parts.push_back("machine code for " + join_some(texts(code.sass), "and", kMost));
    if (!code.ptx.empty()) parts.push_back("PTX of " + join_some(texts(code.ptx), "and", kMost));
    const std::vector<std::string> targets(code.gfx.begin(), code.gfx.end());
    if (!targets.empty()) parts.push_back("code for " + join_some(targets, "and", kMost));
    return parts.empty() ? "no GPU code" : fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace gpkg
