#include "libcore/package/unpack.hpp"

#include "libcore/package/verify.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/package_archives.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <thread>

using namespace gpkg;
using Catch::Matchers::StartsWith;
using gpkg::tests::info_members;
using gpkg::tests::make_conda;
using gpkg::tests::make_tar;
using gpkg::tests::make_tar_bz2;
using gpkg::tests::make_zip;
using gpkg::tests::TarMember;
using Kind = gpkg::tests::TarMember::Kind;

namespace unpack_test {
namespace {

/// A folder with one archive in it, and a place to unpack to.
struct Bench {
    explicit Bench(std::string_view bytes) {
        REQUIRE(folder);
        archive = folder->path() / "p-1-0.conda";
        target = folder->path() / "out/p-1-0";
        REQUIRE(make_folders(folder->path() / "out"));
        REQUIRE(write_file_atomically(archive, bytes));
    }

    Result<Unpacked> unpack(const UnpackOptions& options = {}) const {
        return unpack_package(archive, target, options);
    }
    /// The message without the path of the archive.
    std::string refusal(const UnpackOptions& options = {}) const {
        const auto done = unpack(options);
        REQUIRE_FALSE(done);
        CHECK_FALSE(fs::exists(fs::symlink_status(target)));
        // Nothing but the archive and the empty folder: nothing was left or written beside it.
        CHECK(std::distance(fs::recursive_directory_iterator(folder->path()), {}) == 2);
        auto message = done.error().to_string();
        for (auto at = message.find(archive.native()); at != std::string::npos;
             at = message.find(archive.native()))
            message.replace(at, archive.native().size(), 1, 'A');
        return message;
    }
    unsigned mode_of(std::string_view path) const {
        struct stat status {};
        REQUIRE(::lstat((target / path).c_str(), &status) == 0);
        return status.st_mode & 07777U;
    }

    Result<TemporaryFolder> folder = TemporaryFolder::make(fs::temp_directory_path());
    fs::path archive;
    fs::path target;
};

struct ZipMembers {
    std::string metadata = R"({"conda_pkg_format_version": 2})";
    std::string pkg = zstd_compress(make_tar({{"a", "x"}}), 3);
    std::string info = zstd_compress(make_tar(info_members({{"a", "x"}})), 3);
};

std::vector<TarMember> joined(std::vector<TarMember> a, const std::vector<TarMember>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

}  // namespace

TEST_CASE("both formats unpack to the same tree", "[package]") {
    const std::vector<TarMember> payload{{"./bin/x", "#!/bin/sh\n", Kind::File, 0775, 1234567890},
                                         {"bin/y", "x", Kind::SoftLink},
                                         {"bin/z", "bin/x", Kind::HardLink},
                                         {"lib/", "", Kind::Folder},
                                         {"lib/\xC3\xA9t\xC3\xA9/" + std::string(150, 'n'),
                                          std::string(300000, 'q'),
                                          Kind::File,
                                          0600},
                                         {"share/empty", ""}};
    const auto info =
        info_members({{"bin/x", "#!/bin/sh\n"},
                      {"bin/z", "#!/bin/sh\n"},
                      {"lib/\xC3\xA9t\xC3\xA9/" + std::string(150, 'n'), std::string(300000, 'q')},
                      {"share/empty", ""}});
    const bool conda = GENERATE(true, false);
    CAPTURE(conda);
    const Bench bench(conda ? make_conda(payload, info) : make_tar_bz2(joined(info, payload)));
    const auto done = bench.unpack();
    REQUIRE(done);
    CHECK(done->warnings.empty());
    CHECK(read_file(bench.target / "bin/x").value() == "#!/bin/sh\n");
    CHECK(fs::read_symlink(bench.target / "bin/y") == "x");
    CHECK(fs::equivalent(bench.target / "bin/x", bench.target / "bin/z"));
    CHECK(fs::file_size(bench.target / "lib/\xC3\xA9t\xC3\xA9" / std::string(150, 'n')) == 300000);
    CHECK(fs::is_directory(bench.target / "lib"));
    CHECK(verify_unpacked(bench.target));

    const auto mask = ::umask(0);
    ::umask(mask);
    CHECK(bench.mode_of("bin/x") == (0755U & ~mask));
    CHECK(bench.mode_of("share/empty") == (0644U & ~mask));
    struct stat status {};
    REQUIRE(::stat((bench.target / "bin/x").c_str(), &status) == 0);
    CHECK(status.st_mtime == 1234567890);
}

TEST_CASE("an archive is unpacked while it arrives", "[package]") {
    const std::vector<TarMember> payload{{"bin/x", "#!/bin/sh\n", Kind::File, 0775},
                                         {"bin/y", "x", Kind::SoftLink},
                                         {"lib/q", std::string(300000, 'q')}};
    const auto info = info_members({{"bin/x", "#!/bin/sh\n"}, {"lib/q", std::string(300000, 'q')}});
    const auto bytes = GENERATE_REF(make_conda(payload, info), make_tar_bz2(joined(info, payload)));
    const bool comes_whole = GENERATE(true, false);
    const Bench bench(bytes);
    const auto path = bench.folder->path() / "arriving";
    const Descriptor written(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
    const auto file = ArrivingFile::open(path).value();
    std::thread writer([&] {
        const auto size = comes_whole ? bytes.size() : bytes.size() / 2;
        for (std::size_t at = 0; at < size; at += 50) {
            const auto piece = std::string_view(bytes).substr(at, 50);
            (void)write_fully(written.get(), piece);
            file->grow(piece.size());
        }
        comes_whole ? file->complete() : file->abandon();
    });
    const auto done = unpack_package(file, "name", bytes.size(), bench.target);
    writer.join();
    if (!comes_whole) {
        REQUIRE_FALSE(done);
        CHECK(done.error().kind == ErrorKind::Interrupted);
        CHECK_FALSE(fs::exists(bench.target));
        return;
    }
    REQUIRE(done);
    CHECK(done->warnings.empty());
    CHECK(verify_unpacked(bench.target));
    CHECK(fs::read_symlink(bench.target / "bin/y") == "x");
    CHECK(fs::file_size(bench.target / "lib/q") == 300000);
    CHECK((bench.mode_of("bin/x") & 0100U) != 0);
}

TEST_CASE("the umask counts", "[package]") {
    const Bench bench(make_conda({{"d/x", "", Kind::File, 0777}}, info_members()));
    const auto mask = ::umask(077);
    const auto done = bench.unpack();
    ::umask(mask);
    REQUIRE(done);
    CHECK(bench.mode_of("d/x") == 0700);
    CHECK(bench.mode_of("d") == 0700);
}

TEST_CASE("who may use the folder may use what is unpacked into it", "[package]") {
    struct Row {
        mode_t like, umask;
        unsigned folder, program, text;
    };
    for (const auto& row : {Row{02775, 002, 0775, 0755, 0644},
                            Row{02775, 022, 02775, 0755, 0644},
                            Row{02770, 077, 02770, 0750, 0640},
                            Row{0755, 077, 0755, 0755, 0644},
                            Row{0700, 022, 0755, 0755, 0644},
                            Row{0700, 077, 0700, 0700, 0600},
                            // Sticky: all may write there, and nobody into what is another's.
                            Row{01777, 022, 0755, 0755, 0644},
                            Row{01777, 077, 0755, 0755, 0644}}) {
        CAPTURE(row.like, row.umask);
        const Bench bench(make_conda({{"d/x", "", Kind::File, 0777}, {"d/y", ""}}, info_members()));
        UnpackOptions options;
        options.like = row.like;
        const auto mask = ::umask(row.umask);
        const auto done = bench.unpack(options);
        ::umask(mask);
        REQUIRE(done);
        CHECK(bench.mode_of("d") == row.folder);
        CHECK(bench.mode_of("") == row.folder);
        CHECK(bench.mode_of("d/x") == row.program);
        CHECK(bench.mode_of("d/y") == row.text);
    }
}

TEST_CASE("several archives share what may come to the disk", "[package]") {
    const auto conda = make_conda({{"d/x", "12345678"}}, info_members({{"d/x", "12345678"}}));
    UnpackOptions options;
    options.allowance = std::make_shared<Allowance>();
    options.allowance->bytes = 4096;
    options.allowance->inodes = 20;
    options.allowance->bounds = "--max-size 4kB";
    REQUIRE(Bench(conda).unpack(options));
    const auto bytes = options.allowance->bytes.load();
    const auto inodes = options.allowance->inodes.load();
    CHECK(bytes < 4096 - 8);
    CHECK(inodes < 20 - 3);
    // What fails gives it back.
    CHECK(Bench(make_conda({{"d/x", "1"}}, info_members({{"d/x", "2"}})))
              .unpack(options)
              .error()
              .kind == ErrorKind::Integrity);
    CHECK(options.allowance->bytes == bytes);
    CHECK(options.allowance->inodes == inodes);
    CHECK_THAT(
        Bench(make_conda({{"d/x", std::string(4096, 'x')}}, info_members())).refusal(options),
        StartsWith("A: unpacking exceeds --max-size 4kB"));
    CHECK(options.allowance->bytes == bytes);
    options.allowance->inodes = 2;
    CHECK_THAT(Bench(conda).refusal(options), StartsWith("A: unpacking exceeds"));
    CHECK(options.allowance->inodes == 2);
}

TEST_CASE("hostile members are refused and leave nothing", "[package]") {
    struct Row {
        std::vector<TarMember> payload;
        std::string expected;
    };
    const auto row = GENERATE(values<Row>({
        {{{"../x", "evil"}}, "A: refused: member \"../x\" leads outside of the folder"},
        {{{"a/../../x", "evil"}}, "A: refused: member \"a/../../x\" leads outside of the folder"},
        {{{"/tmp/gpkg-evil", "evil"}},
         "A: refused: member \"/tmp/gpkg-evil\" leads outside of the folder"},
        {{{"l", "/tmp", Kind::SoftLink}, {"l/gpkg-evil", "evil"}},
         "A: refused: member \"l/gpkg-evil\" needs the folder \"l\", which is not a folder"},
        {{{"l", "..", Kind::SoftLink}, {"l/x", "evil"}},
         "A: refused: member \"l/x\" needs the folder \"l\", which is not a folder"},
        {{{"d", "", Kind::Folder}, {"d", "..", Kind::SoftLink}, {"d/x", "evil"}},
         "A: refused: member \"d\" is in the archive twice"},
        {{{"d/l", "../..", Kind::SoftLink}, {"d/l", "", Kind::Folder}, {"d/l/x", "evil"}},
         "A: refused: member \"d/l/\" needs the folder \"d/l\", which is not a folder"},
        {{{"l", "../x", Kind::SoftLink}, {"l", "evil"}},
         "A: refused: member \"l\" is in the archive twice"},
        {{{"h", "/etc/passwd", Kind::HardLink}},
         "A: refused: member \"h\" is a hard link to \"/etc/passwd\", which is not an earlier file "
         "of the archive"},
        {{{"h", "../p-1-0.conda", Kind::HardLink}},
         "A: refused: member \"h\" is a hard link to \"../p-1-0.conda\", which is not an earlier "
         "file of the archive"},
        {{{"l", "/etc/passwd", Kind::SoftLink}, {"h", "l", Kind::HardLink}},
         "A: refused: member \"h\" is a hard link to \"l\", which is not an earlier file of the "
         "archive"},
        {{{"l", "/etc", Kind::SoftLink}, {"h", "l/passwd", Kind::HardLink}},
         "A: refused: member \"h\" is a hard link to \"l/passwd\", which is not an earlier file of "
         "the archive"},
        {{{"pipe", "", Kind::Pipe}}, "A: refused: member \"pipe\" is not a file, link or folder"},
        {{{"null", "", Kind::Device}}, "A: refused: member \"null\" is not a file, link or folder"},
        {{{"a", "x"}, {"a", "y"}}, "A: refused: member \"a\" is in the archive twice"},
        {{{"a", "x"}, {"./a", "y"}}, "A: refused: member \"./a\" is in the archive twice"},
        {{{"a", "x"}, {"a/b", "y"}},
         "A: refused: member \"a/b\" needs the folder \"a\", which is not a folder"},
        {{{"info/index.json", "{}"}},
         "A: refused: member \"info/index.json\" is payload in the place of metadata"},
        {{{"info", "/etc", Kind::SoftLink}},
         "A: refused: member \"info\" is payload in the place of metadata"},
        {{{"./", "/etc", Kind::SoftLink}}, "A: refused: member \"./\" replaces the folder"},
        {{{"esc\x1b[31m/../..", "x"}},
         "A: refused: member \"esc\\x1b[31m/../..\" leads outside of the folder"},
    }));
    CAPTURE(row.expected);
    CHECK(Bench(make_conda(row.payload, info_members())).refusal() == row.expected);
    CHECK_FALSE(fs::exists("/tmp/gpkg-evil"));
}

TEST_CASE("metadata outside info/ is refused", "[package]") {
    const Bench bench(make_conda({}, joined(info_members(), {{"bin/x", "x"}})));
    CHECK(bench.refusal() == "A: refused: member \"bin/x\" is metadata outside of info/");
}

TEST_CASE("payload may carry what accompanies the metadata", "[package]") {
    // cph packs licenses so; a record that was never the package's to tell is left out.
    const Bench bench(make_conda(
        {{"info/licenses/LICENSE", "free"}, {"info/repodata_record.json", "{}"}}, info_members()));
    const auto done = bench.unpack();
    REQUIRE(done);
    CHECK(read_file(bench.target / "info/licenses/LICENSE").value() == "free");
    CHECK_FALSE(fs::exists(bench.target / "info/repodata_record.json"));
    CHECK(done->warnings.size() == 1);

    for (const auto* path : {"info/paths.json", "info/link.json/x", "./info//has_prefix"}) {
        CAPTURE(path);
        CHECK_THAT(Bench(make_conda({{path, "{}"}}, info_members())).refusal(),
                   Catch::Matchers::EndsWith("is payload in the place of metadata"));
    }
}

TEST_CASE("set-id bits are dropped with a word", "[package]") {
    const Bench bench(make_conda({{"su", "x", Kind::File, 06755}}, info_members()));
    const auto done = bench.unpack();
    REQUIRE(done);
    CHECK((bench.mode_of("su") & 07000U) == 0);
    CHECK(done->lost_set_id == std::vector<std::string>{"su"});
}

TEST_CASE("links that lead outside are made but never followed", "[package]") {
    const Bench bench(make_conda({{"l", "/etc/passwd", Kind::SoftLink}}, info_members()));
    REQUIRE(bench.unpack());
    CHECK(fs::is_symlink(bench.target / "l"));
}

TEST_CASE("the zip around a .conda is judged", "[package]") {
    const ZipMembers good;
    struct Row {
        std::vector<std::pair<std::string, std::string>> members;
        std::string expected;
    };
    const auto row = GENERATE_COPY(values<Row>({
        {{{"metadata.json", good.metadata}, {"pkg-a.tar.zst", good.pkg}},
         "A: has no info-*.tar.zst member"},
        {{{"metadata.json", good.metadata}, {"info-a.tar.zst", good.info}},
         "A: has no pkg-*.tar.zst member"},
        {{{"metadata.json", R"({"conda_pkg_format_version": 3})"}},
         "A: metadata.json: conda_pkg_format_version must be 2, found 3"},
        {{{"metadata.json", "[]"}}, "A: metadata.json: must be an object, found a list"},
        {{{"pkg-a.tar.zst", good.pkg}, {"pkg-b.tar.zst", good.pkg}},
         "A: pkg-b.tar.zst: is in the archive twice"},
        {{{"pkg-a.tar.zst", make_tar({{"a", "x"}})}},
         "A: pkg-a.tar.zst: damaged archive: not zstd data"},
        {{{"pkg-a.tar.zst", "garbage garbage garbage"}},
         "A: pkg-a.tar.zst: damaged archive: not a package, or incomplete"},
        {{{"pkg-a.tar.zst", good.pkg.substr(0, good.pkg.size() - 9)}},
         "A: pkg-a.tar.zst: damaged archive: Truncated zstd input"},
    }));
    CAPTURE(row.expected);
    CHECK(Bench(make_zip(row.members)).refusal() == row.expected);
}

TEST_CASE("departures that do no harm are warnings", "[package]") {
    const ZipMembers good;
    {  // renamed package, no metadata.json, something else inside
        const Bench bench(make_zip({{"info-other-2-0.tar.zst", good.info},
                                    {"README", "hello"},
                                    {"pkg-other-2-0.tar.zst", good.pkg}}));
        const auto done = bench.unpack();
        REQUIRE(done);
        CHECK(done->warnings ==
              std::vector<std::string>{
                  bench.archive.native() + ": README: not part of the .conda format",
                  bench.archive.native() + ": has no metadata.json"});
    }
    {  // deflated members
        const Bench bench(make_zip({{"metadata.json", good.metadata},
                                    {"pkg-a.tar.zst", good.pkg},
                                    {"info-a.tar.zst", good.info}},
                                   true));
        const auto done = bench.unpack();
        REQUIRE(done);
        REQUIRE(done->warnings.size() == 3);
        CHECK(done->warnings[1] ==
              bench.archive.native() +
                  ": pkg-a.tar.zst: compressed in the zip, which the .conda format forbids");
    }
}

TEST_CASE("damage and truncation leave nothing", "[package]") {
    CHECK(Bench("").refusal() == "A: an empty file (expected .conda or .tar.bz2)");
    CHECK(Bench("<!DOCTYPE html>").refusal() ==
          "A: not a package archive (expected .conda or .tar.bz2)");

    std::string noise;
    for (std::uint32_t state = 1; noise.size() < 400000; state = state * 1664525U + 1013904223U)
        noise += static_cast<char>(state >> 24U);
    const std::vector<TarMember> payload{{"lib/noise", noise}};
    const auto info = info_members({{"lib/noise", noise}});
    const auto conda = make_conda(payload, info);
    const auto bz2 = make_tar_bz2(joined(info, payload));
    REQUIRE(Bench(conda).unpack());
    REQUIRE(Bench(bz2).unpack());
    for (const auto& bytes : {conda, bz2}) {
        for (const auto part : {0.1, 0.5, 0.9, 0.999}) {
            CAPTURE(part, bytes.substr(0, 2));
            const auto size = static_cast<std::size_t>(static_cast<double>(bytes.size()) * part);
            const Bench bench(bytes.substr(0, size));
            CHECK(bench.unpack().error().kind == ErrorKind::Integrity);
            CHECK_FALSE(fs::exists(bench.target));
        }
        auto flipped = bytes;
        flipped[bytes.size() / 2] = static_cast<char>(~flipped[bytes.size() / 2]);
        CHECK_FALSE(Bench(flipped).unpack());
    }
}

TEST_CASE("what paths.json promises is checked while unpacking", "[package]") {
    CHECK(Bench(make_conda({{"a", "x"}}, info_members({{"a", "y"}}))).refusal() ==
          "A: differs from its info/paths.json: \"a\" has a different checksum");
    CHECK(Bench(make_conda({{"a", "x"}}, info_members({{"a", "xy"}}))).refusal() ==
          "A: differs from its info/paths.json: \"a\" has 1 bytes, not 2");
    CHECK(Bench(make_conda({}, info_members({{"a", "x"}}))).refusal() ==
          "A: differs from its info/paths.json: \"a\" is missing");
    CHECK(Bench(make_conda({{"a", "b", Kind::SoftLink}}, info_members({{"a", "x"}}))).refusal() ==
          "A: differs from its info/paths.json: \"a\" is a symbolic link, not a file");
    CHECK(Bench(make_conda({}, {{"info/x", ""}})).refusal() ==
          "A: not a package: has no info/index.json");
    UnpackOptions unchecked;
    unchecked.verify = false;
    CHECK(Bench(make_conda({{"a", "x"}}, info_members({{"a", "y"}}))).unpack(unchecked));
}

TEST_CASE("bombs are stopped", "[package]") {
    UnpackOptions options;
    const auto conda =
        make_conda({{"zeros", std::string(3U << 20U, '\0')}, {"b", ""}}, info_members());
    options.limits.bytes = 1U << 20U;
    CHECK(Bench(conda).refusal(options) == "A: refused: unpacks to more than 1048576 bytes");
    options.limits = {};
    options.limits.bytes_per_archive_byte = 1;
    options.limits.free_bytes = 1000;
    const Bench bench(conda);
    CHECK(bench.refusal(options) ==
          "A: refused: unpacks to more than " + std::to_string(conda.size() + 1000) + " bytes");
    options.limits = {};
    options.limits.entries = 1;
    CHECK(Bench(conda).refusal(options) == "A: refused: more than 1 members");
}

TEST_CASE("unpacking can be interrupted", "[package]") {
    UnpackOptions options;
    int asked = 0;
    options.cancelled = [&] { return ++asked > 2; };
    const Bench bench(make_conda({{"a", "x"}, {"b", "y"}}, info_members()));
    CHECK(bench.refusal(options) == "A: unpacking was interrupted");
}

TEST_CASE("a folder with something in it is not unpacked into", "[package]") {
    const Bench bench(make_conda({{"a", "x"}}, info_members({{"a", "x"}})));
    REQUIRE(write_file_atomically(bench.target / "mine", "1"));
    CHECK(bench.unpack().error().message ==
          bench.target.native() + ": cannot unpack: the folder is not empty");
    CHECK(read_file(bench.target / "mine").value() == "1");
    fs::remove(bench.target / "mine");
    CHECK(bench.unpack());
}

TEST_CASE("the metadata of an archive is read without its payload", "[package]") {
    const ZipMembers good;
    // A payload that would fail to unpack is not even looked at.
    const Bench conda(make_zip({{"metadata.json", good.metadata},
                                {"pkg-a.tar.zst", "garbage"},
                                {"info-a.tar.zst", good.info}}));
    const auto info = read_package_info(conda.archive);
    REQUIRE(info);
    CHECK(info->size() == 2);
    CHECK_THAT(info->at("index.json"), ContainsSubstring("\"build\": \"0\""));

    const Bench bz2(make_tar_bz2(joined({{"a", "x"}}, info_members({{"a", "x"}}))));
    CHECK(read_package_info(bz2.archive).value() == *info);

    const Bench link(make_conda({}, {{"info/index.json", "/etc/passwd", Kind::SoftLink}}));
    CHECK(read_package_info(link.archive).error().message ==
          link.archive.native() + ": refused: member \"info/index.json\" is not a file");
    const Bench none(make_conda({}, {{"info/x", ""}}));
    CHECK(read_package_info(none.archive).error().message ==
          none.archive.native() + ": not a package: has no info/index.json");
    CHECK(read_package_info("/nowhere/a-1-0.conda").error().kind == ErrorKind::NotFound);
}

}  // namespace unpack_test
