#include "libcore/binary/gpu_code.hpp"

#include "tests/support/catch.hpp"

#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <filesystem>
#include <fstream>

using namespace gpkg;

namespace gpu_code_test {
namespace {

using Targets = std::set<CudaTarget>;
constexpr auto kFamily = CudaTarget::Features::Family;
constexpr auto kSpecific = CudaTarget::Features::Specific;

template <typename T>
void put(std::string& bytes, T value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// An entry of nvcc's container: kind 1 is PTX, 2 machine code.
std::string entry(std::uint16_t kind,
                  std::uint32_t capability,
                  std::size_t size,
                  std::uint32_t flags = 0x11) {
    std::string bytes;
    put<std::uint16_t>(bytes, kind);
    put<std::uint16_t>(bytes, 0x101);
    put<std::uint32_t>(bytes, 64);
    put<std::uint64_t>(bytes, size);
    put<std::uint64_t>(bytes, 0);
    put<std::uint32_t>(bytes, 0);
    put<std::uint32_t>(bytes, capability);
    put<std::uint64_t>(bytes, 0);
    put<std::uint32_t>(bytes, flags);
    bytes.resize(64);
    return bytes + std::string(size, 'x');
}

std::string container(const std::string& entries) {
    std::string bytes;
    put<std::uint32_t>(bytes, 0xba55ed50);
    put<std::uint16_t>(bytes, 1);
    put<std::uint16_t>(bytes, 16);
    put<std::uint64_t>(bytes, entries.size());
    return bytes + entries;
}

std::string bundle(const std::vector<std::string>& ids) {
    std::string bytes = "__CLANG_OFFLOAD_BUNDLE__";
    put<std::uint64_t>(bytes, ids.size());
    for (const auto& id : ids) {
        put<std::uint64_t>(bytes, 4096);
        put<std::uint64_t>(bytes, 0);
        put<std::uint64_t>(bytes, id.size());
        bytes += id;
    }
    return bytes;
}

fs::path written(const std::string& bytes, const char* name) {
    const auto file = fs::temp_directory_path() / name;
    std::ofstream(file, std::ios::binary) << bytes;
    return file;
}

/// An ELF file with this one section: a shared library, or machine code for a GPU (190).
std::string elf_with(const std::string& name,
                     const std::string& content,
                     std::uint16_t machine = EM_X86_64,
                     std::uint32_t flags = 0,
                     unsigned char abi = 0) {
    const std::string names = std::string(1, '\0') + name + '\0' + ".shstrtab" + '\0';
    Elf64_Ehdr head{};
    std::memcpy(head.e_ident, ELFMAG, SELFMAG);
    head.e_ident[EI_CLASS] = ELFCLASS64;
    head.e_ident[EI_DATA] = ELFDATA2LSB;
    head.e_ident[EI_ABIVERSION] = abi;
    head.e_type = ET_DYN;
    head.e_machine = machine;
    head.e_flags = flags;
    head.e_shentsize = sizeof(Elf64_Shdr);
    head.e_shnum = 3;
    head.e_shstrndx = 2;
    head.e_shoff = sizeof head + content.size() + names.size();
    Elf64_Shdr none{};
    Elf64_Shdr code{};
    code.sh_name = 1;
    code.sh_type = SHT_PROGBITS;
    code.sh_offset = sizeof head;
    code.sh_size = content.size();
    Elf64_Shdr strings{};
    strings.sh_name = static_cast<Elf64_Word>(name.size() + 2);
    strings.sh_type = SHT_STRTAB;
    strings.sh_offset = sizeof head + content.size();
    strings.sh_size = names.size();
    std::string bytes;
    put(bytes, head);
    bytes += content + names;
    for (const auto& section : {none, code, strings}) put(bytes, section);
    return bytes;
}

fs::path library(const std::string& name, const std::string& content) {
    return written(elf_with(name, content), "gpkg-gpu-code.so");
}

/// A static library of these members (ar(5)).
std::string archive(const std::vector<std::string>& members) {
    std::string bytes = "!<arch>\n";
    for (const auto& member : members) {
        auto head =
            "m.o/            0           0     0     644     " + std::to_string(member.size());
        head.resize(58, ' ');
        bytes += head + "`\n" + member;
        if (member.size() % 2 != 0) bytes += '\n';
    }
    return bytes;
}

Version version(const char* text) { return Version::parse(text).value(); }

}  // namespace

TEST_CASE("nvcc's containers tell machine code and PTX", "[build]") {
    // Two containers with padding between them, as a linker puts those of two objects.
    const auto file =
        library(".nv_fatbin",
                container(entry(2, 70, 40) + entry(2, 80, 8)) + std::string(24, '\0') +
                    container(entry(2, 90, 16) + entry(1, 90, 24)));
    const auto code = read_gpu_code(file);
    REQUIRE(code);
    CHECK(code->sass == Targets{{70}, {80}, {90}});
    CHECK(code->ptx == Targets{{90}});
    CHECK(to_string(*code) == "machine code for 7.0, 8.0 and 9.0, PTX of 9.0");
}

TEST_CASE("code for one capability alone, or for a family, is told from plain code", "[build]") {
    // Flags as nvcc 13.0 has written them for sm_120a, compute_120a, sm_120f, compute_120f, sm_90a
    // and sm_90.
    const auto file = library(".nv_fatbin",
                              container(entry(2, 120, 8, 0x1100011) + entry(1, 120, 8, 0x108011) +
                                        entry(2, 120, 8, 0x1200011) + entry(1, 120, 8, 0x208011) +
                                        entry(2, 90, 8, 0x100011) + entry(2, 90, 8, 0x11)));
    const auto code = read_gpu_code(file);
    REQUIRE(code);
    CHECK(code->sass == Targets{{90}, {90, kSpecific}, {120, kFamily}, {120, kSpecific}});
    CHECK(code->ptx == Targets{{120, kFamily}, {120, kSpecific}});
    CHECK(to_string(*code) ==
          "machine code for 9.0, 9.0a, 12.0f and 12.0a, PTX of 12.0f and 12.0a");
    const GpuCode only{{{120, kSpecific}}, {{120, kSpecific}}, {}};
    CHECK(runs_on_nvidia(only, version("12.0")) == CodeRuns::Natively);
    CHECK(runs_on_nvidia(only, version("12.1")) == CodeRuns::No);
}

TEST_CASE("GPU code is found outside of programs and shared libraries", "[build]") {
    const auto read = [](const std::string& bytes) {
        const auto code = read_gpu_code(written(bytes, "gpkg-gpu-code.bin"));
        return code ? to_string(*code) : code.error().message;
    };
    CHECK(read(container(entry(2, 75, 8) + entry(1, 80, 8))) == "machine code for 7.5, PTX of 8.0");
    // Flags of the header as nvcc 13.0 (sm_80) has written them, and as LLVM's ELF.h has them for
    // the layout before (sm_90a).
    CHECK(read(elf_with(".text", "x", 190, 0x6005004, 8)) == "machine code for 8.0");
    CHECK(read(elf_with(".text", "x", 190, 0x5a0d5a, 7)) == "machine code for 9.0a");
    // Which features there are is told by ptxas' note alone (13.0).
    CHECK(read(elf_with(".note.nv.tkinfo",
                        std::string("ptxas\0-arch sm_120a -m 64 \0", 28),
                        190,
                        0x6007802,
                        8)) == "machine code for 12.0a");
    const auto object = [](std::uint32_t capability) {
        return elf_with(".nv_fatbin", container(entry(2, capability, 8)));
    };
    CHECK(read(archive(
              {"odd", object(75), elf_with("__nv_relfatbin", container(entry(1, 90, 8)))})) ==
          "machine code for 7.5, PTX of 9.0");
    CHECK(read(archive({})) == "no GPU code");
    auto cut = archive({object(75)});
    cut.resize(cut.size() - 9);
    CHECK(read(cut).ends_with("damaged static library"));
    CHECK(read("!<arch>\nno header") == "no GPU code");
}

TEST_CASE("clang's bundles tell AMD's targets", "[build]") {
    const auto first = bundle({"host-x86_64-unknown-linux--",
                               "hipv4-amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-",
                               "hipv4-amdgcn-amd-amdhsa--gfx942"});
    const auto file = library(".hip_fatbin",
                              first + std::string(4096 - first.size(), '\0') +
                                  bundle({"hip-amdgcn-amd-amdhsa--gfx11-generic"}));
    const auto code = read_gpu_code(file);
    REQUIRE(code);
    CHECK(code->gfx == std::set<std::string>{"gfx11-generic", "gfx90a:sramecc+:xnack-", "gfx942"});
    CHECK(to_string(*code) == "code for gfx11-generic, gfx90a:sramecc+:xnack- and gfx942");
}

TEST_CASE("what holds no GPU code, or is damaged, is told so", "[build]") {
    CHECK(read_gpu_code(library(".text", "x"))->empty());
    CHECK(read_gpu_code(library(".nv_fatbin", std::string(100, '\0')))->empty());
    const auto text = fs::temp_directory_path() / "gpkg-gpu-code.txt";
    std::ofstream(text) << "no ELF";
    CHECK(read_gpu_code(text)->empty());
    CHECK_FALSE(read_gpu_code("/nowhere"));
    auto longer = container(entry(2, 70, 8));
    longer[8] = '\x7f';  // it claims more than the section has
    CHECK_FALSE(read_gpu_code(library(".nv_fatbin", longer)));
    // Any bytes end in an answer.
    for (std::size_t cut = 0; cut < 96; cut += 7)
        (void)read_gpu_code(library(".nv_fatbin", container(entry(2, 70, 8)).substr(0, cut)));
}

TEST_CASE("code runs on later minor versions, PTX on later majors", "[build]") {
    const GpuCode code{{{70}, {80}, {86}}, {{86}}, {}};
    CHECK(runs_on_nvidia(code, version("8.0")) == CodeRuns::Natively);
    CHECK(runs_on_nvidia(code, version("8.9")) == CodeRuns::Natively);
    CHECK(runs_on_nvidia(code, version("7.5")) == CodeRuns::Natively);
    CHECK(runs_on_nvidia(code, version("9.0")) == CodeRuns::Compiled);
    CHECK(runs_on_nvidia(code, version("6.1")) == CodeRuns::No);
    CHECK(runs_on_nvidia({{{80}}, {}, {}}, version("9.0")) == CodeRuns::No);
    const GpuCode amd{{}, {}, {"gfx90a", "gfx9-4-generic", "gfx11-generic"}};
    CHECK(runs_on_amd(amd, "gfx90a") == CodeRuns::Natively);
    CHECK(runs_on_amd(amd, "gfx942") == CodeRuns::Natively);
    CHECK(runs_on_amd(amd, "gfx1100") == CodeRuns::Natively);
    CHECK(runs_on_amd(amd, "gfx950") == CodeRuns::Natively);
    CHECK(runs_on_amd(amd, "gfx908") == CodeRuns::No);
    // gfx9-generic is for no accelerator.
    CHECK(runs_on_amd({{}, {}, {"gfx9-generic"}}, "gfx90a") == CodeRuns::No);
    CHECK(runs_on_amd({{}, {}, {"gfx9-generic"}}, "gfx906") == CodeRuns::Natively);
}

TEST_CASE("features of AMD's targets have to agree where both are told", "[build]") {
    // LLVM, "User Guide for AMDGPU Backend": a feature that is not given is code for either.
    const auto runs = [](const char* code, const char* device) {
        return runs_on_amd({{}, {}, {code}}, device) == CodeRuns::Natively;
    };
    CHECK(runs("gfx90a:xnack+", "gfx90a"));
    CHECK(runs("gfx90a", "gfx90a:sramecc+:xnack-"));
    CHECK(runs("gfx90a:xnack-", "gfx90a:sramecc+:xnack-"));
    CHECK_FALSE(runs("gfx90a:xnack+", "gfx90a:sramecc+:xnack-"));
    CHECK_FALSE(runs("gfx90a:sramecc-:xnack-", "gfx90a:sramecc+:xnack-"));
    CHECK_FALSE(runs("gfx942:xnack-", "gfx90a:xnack-"));
    CHECK(runs("gfx9-4-generic:xnack-", "gfx942:sramecc+:xnack-"));
    CHECK_FALSE(runs("gfx9-4-generic:xnack+", "gfx942:sramecc+:xnack-"));
}

// GPKG_TEST_CUDA_LIBRARIES: a folder of libraries of CUDA's, such as libcurand and libcufft.
TEST_CASE("CUDA's own libraries are read", "[build]") {
    const char* folder = std::getenv("GPKG_TEST_CUDA_LIBRARIES");
    if (folder == nullptr || *folder == '\0') {
        WARN("skipped: GPKG_TEST_CUDA_LIBRARIES names no folder");
        return;
    }
    for (const auto& one : fs::directory_iterator(folder)) {
        if (!one.is_regular_file()) continue;
        CAPTURE(one.path());
        const auto code = read_gpu_code(one.path());
        REQUIRE(code);
        UNSCOPED_INFO(to_string(*code));
        CHECK_FALSE(code->sass.empty());
    }
}

}  // namespace gpu_code_test
