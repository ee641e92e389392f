// Package archives with flipped bytes, cut ends and hostile members. Whatever they hold: no crash,
// nothing written outside the target, nothing left where unpacking fails.
//   archive_fuzz [SECONDS] [SEED]

#include "libcore/package/info.hpp"
#include "libcore/package/paths.hpp"
#include "libcore/package/unpack.hpp"
#include "libcore/package/verify.hpp"
#include "tests/support/package_archives.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <random>

using namespace gpkg;
using gpkg::tests::TarMember;

namespace {

class Chance {
public:
    explicit Chance(std::uint64_t seed) : engine_(seed) {}
    std::size_t below(std::size_t bound) { return engine_() % bound; }
    bool one_in(std::size_t count) { return below(count) == 0; }
    template <typename List>
    const auto& pick(const List& list) {
        return list[below(list.size())];
    }

private:
    std::mt19937_64 engine_;
};

/// A folder with a canary beside the place that archives are unpacked to.
class Cage {
public:
    Cage() : root_(TemporaryFolder::make(fs::temp_directory_path()).value()) {
        must(write_file_atomically(canary() / "bird", "alive"));
    }
    fs::path archive() const { return root_.path() / "a"; }
    fs::path target() const { return root_.path() / "out/p"; }
    fs::path canary() const { return root_.path() / "canary"; }

    void prepare(const std::string& bytes) const {
        must(make_folders(root_.path() / "out"));
        std::ofstream(archive(), std::ios::binary) << bytes;  // not synced: this is done often
    }
    /// What is wrong with the folder; empty when all is well.
    std::string harm(bool unpacked) const {
        if (read_file(canary() / "bird").value_or("") != "alive") return "the canary is dead";
        if (count(canary()) != 1) return "something was written beside the canary";
        if (count(root_.path()) != 3) return "something was written beside the target";
        if (count(root_.path() / "out") != (unpacked ? 1 : 0)) return "something was left behind";
        return {};
    }
    void clean() const { must(remove_tree(target())); }

private:
    static void must(const Result<void>& done) {
        if (done) return;
        std::fputs((done.error().to_string() + "\n").c_str(), stderr);
        std::exit(2);
    }
    static std::ptrdiff_t count(const fs::path& folder) {
        return std::distance(fs::directory_iterator(folder), {});
    }
    TemporaryFolder root_;
};

std::string random_path(Chance& chance, const Cage& cage) {
    static const std::vector<std::string> parts{"a",
                                                "b",
                                                "lib",
                                                "l",
                                                "..",
                                                ".",
                                                "",
                                                "info",
                                                "index.json",
                                                "paths.json",
                                                "x\x1b",
                                                "\xff\xfe",
                                                "\xC3\xA9",
                                                std::string(90, 'n'),
                                                std::string(300, 'n'),
                                                "C:",
                                                "a\\b"};
    std::string path = chance.one_in(12) ? cage.canary().native() + "/" : "";
    const auto count = 1 + chance.below(4);
    for (std::size_t i = 0; i < count; ++i) path += (i == 0 ? "" : "/") + chance.pick(parts);
    return path.empty() ? "." : path;
}

TarMember random_member(Chance& chance, const Cage& cage) {
    using Kind = TarMember::Kind;
    static const std::vector<Kind> kinds{Kind::File,
                                         Kind::File,
                                         Kind::File,
                                         Kind::Folder,
                                         Kind::SoftLink,
                                         Kind::SoftLink,
                                         Kind::HardLink,
                                         Kind::Pipe,
                                         Kind::Device};
    TarMember member;
    member.kind = chance.pick(kinds);
    member.path = random_path(chance, cage);
    if (member.kind == Kind::File) {
        member.content.assign(chance.below(3000), 'x');
    } else {
        static const std::vector<std::string> links{
            "..", "../..", ".", "a", "../../canary", "../../canary/bird", "lib/a"};
        member.content = chance.one_in(3)   ? random_path(chance, cage)
                         : chance.one_in(3) ? cage.canary().native()
                                            : chance.pick(links);
    }
    member.mode = chance.one_in(5) ? 07777 : 0644;
    return member;
}

void damage(Chance& chance, std::string& bytes) {
    if (bytes.empty()) return;
    const auto changes = 1 + chance.below(8);
    for (std::size_t i = 0; i < changes; ++i) {
        const auto at = chance.below(bytes.size());
        switch (chance.below(4)) {
        case 0: bytes[at] = static_cast<char>(chance.below(256)); break;
        case 1: bytes[at] = static_cast<char>(bytes[at] ^ (1 << chance.below(8))); break;
        case 2: bytes.insert(at, chance.below(20), static_cast<char>(chance.below(256))); break;
        default: bytes.erase(at, chance.below(600)); break;
        }
        if (bytes.empty()) return;
    }
}

std::string random_archive(Chance& chance, const Cage& cage) {
    const std::vector<std::pair<std::string, std::string>> files{{"a", "x"}, {"lib/a", "yy"}};
    auto info = tests::info_members(files);
    std::vector<TarMember> payload{
        {"a", "x"}, {"lib/a", "yy"}, {"l", "a", TarMember::Kind::SoftLink}};
    const auto hostile = chance.below(6);
    for (std::size_t i = 0; i < hostile; ++i)
        payload.insert(
            payload.begin() + static_cast<std::ptrdiff_t>(chance.below(payload.size() + 1)),
            random_member(chance, cage));
    if (chance.one_in(4)) info.push_back(random_member(chance, cage));
    if (chance.one_in(4)) damage(chance, info[chance.below(2)].content);

    std::string bytes;
    if (chance.one_in(4)) {
        info.insert(info.end(), payload.begin(), payload.end());
        bytes = tests::make_tar_bz2(info);
    } else {
        auto pkg = tests::make_tar(payload);
        auto meta = tests::make_tar(info);
        if (chance.one_in(3)) damage(chance, pkg);
        if (chance.one_in(6)) damage(chance, meta);
        auto packed = zstd_compress(pkg, 1);
        if (chance.one_in(6)) damage(chance, packed);
        bytes = tests::make_zip({{"metadata.json", R"({"conda_pkg_format_version": 2})"},
                                 {"pkg-p-1-0.tar.zst", packed},
                                 {"info-p-1-0.tar.zst", zstd_compress(meta, 1)}},
                                chance.one_in(5));
    }
    if (chance.one_in(4)) damage(chance, bytes);
    if (chance.one_in(10)) bytes.resize(chance.below(bytes.size() + 1));
    return bytes;
}

/// Feeds one archive to every reader; what went wrong, or nothing.
std::string try_archive(const Cage& cage, const std::string& bytes, bool verify, bool& accepted) {
    cage.prepare(bytes);
    UnpackOptions options;
    options.verify = verify;
    options.limits.free_bytes = 50U << 20U;
    const auto done = unpack_package(cage.archive(), cage.target(), options);
    accepted = done.has_value();
    if (auto harm = cage.harm(accepted); !harm.empty()) return harm;
    if (accepted) {
        const auto checked = verify_unpacked(cage.target());
        if (verify && !checked) return "verified while unpacking, yet: " + checked.error().message;
        (void)read_index_json(cage.target());
        (void)read_link_json(cage.target());
        (void)read_about_json(cage.target());
        (void)read_run_exports(cage.target());
        cage.clean();
    }
    (void)read_package_info(cage.archive());
    return cage.harm(false);
}

}  // namespace

int main(int argc, char** argv) {
    const auto seconds = argc > 1 ? std::strtod(argv[1], nullptr) : 4.0;
    const std::uint64_t first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    const Cage cage;
    std::uint64_t seed = first;
    std::uint64_t accepted_count = 0;
    for (; std::chrono::steady_clock::now() < end; ++seed) {
        Chance chance(seed);
        const auto bytes = random_archive(chance, cage);
        bool accepted = false;
        const auto wrong = try_archive(cage, bytes, !chance.one_in(3), accepted);
        if (!wrong.empty()) {
            fmt::print(stderr, "seed {}: {}\n", seed, wrong);
            return 1;
        }
        accepted_count += accepted ? 1 : 0;
    }
    fmt::print("{} archives, {} accepted, no harm\n", seed - first, accepted_count);
    return 0;
}
