#include "libcore/fs/file.hpp"

#include "libcore/fs/own_program.hpp"
#include "libcore/fs/temporary.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace gpkg;

TEST_CASE("a file that is not whole tells what it was to become", "[fs]") {
    CHECK(name_of_unfinished(temporary_name("/a/b.json")) == "/a/b.json");
    CHECK(name_of_unfinished("main/a-1-0.conda.part-1a2b3c4d") == "main/a-1-0.conda");
    for (const auto* name : {"", "b.json", "b.tmp-1a2b3c4", "b.tmp-1a2b3c4x", "b.new-1a2b3c4d"})
        CHECK(name_of_unfinished(name).empty());
}

TEST_CASE("a mistyped file name has similar ones beside it", "[fs]") {
    const auto root = TemporaryFolder::make(fs::temp_directory_path());
    REQUIRE(root);
    REQUIRE(write_file_atomically(root->path() / "environment.yml", ""));
    REQUIRE(make_folders(root->path() / "channel"));
    CHECK(near_files(root->path() / "enviroment.yml") ==
          std::vector<std::string>{"environment.yml"});
    CHECK(near_files(root->path() / "chanel") == std::vector<std::string>{"channel"});
    CHECK(near_files(root->path() / "gpkg.lock").empty());
    CHECK(near_files(root->path() / "missing" / "channel").empty());
}

TEST_CASE("a file is replaced whole, and its folders are made", "[fs]") {
    const auto root = TemporaryFolder::make(fs::temp_directory_path());
    REQUIRE(root);
    const auto path = root->path() / "a/b/c.txt";
    REQUIRE(write_file_atomically(path, "one"));
    REQUIRE(write_file_atomically(path, "two"));
    CHECK(read_file(path).value() == "two");
    CHECK(std::distance(fs::directory_iterator(path.parent_path()), {}) == 1);
}

TEST_CASE("an output file replaces only its own kind", "[fs]") {
    const auto root = TemporaryFolder::make(fs::temp_directory_path());
    REQUIRE(root);
    const auto file = root->path() / "x";
    const auto check = [&](const fs::path& path) {
        return check_replaceable(path, "a letter", [](const fs::path& one) {
            return read_file(one).value() == "letter";
        });
    };
    CHECK(check(file));
    REQUIRE(write_file_atomically(file, ""));
    CHECK(check(file));
    REQUIRE(write_file_atomically(file, "letter"));
    CHECK(check(file));
    REQUIRE(write_file_atomically(file, "bill"));
    CHECK(check(file).error().message == file.native() + ": exists and is not a letter");
    CHECK(check(root->path()).error().message ==
          root->path().native() + ": exists and is not a regular file");
}

TEST_CASE("a file that is not finished leaves nothing", "[fs]") {
    const auto root = TemporaryFolder::make(fs::temp_directory_path());
    REQUIRE(root);
    const auto path = root->path() / "x";
    const auto mask = ::umask(027);
    {
        auto file = NewFile::make(path);
        REQUIRE(file);
        REQUIRE(file->write("half"));
        CHECK_FALSE(fs::exists(path));
    }
    CHECK(fs::is_empty(root->path()));
    auto file = NewFile::make(path);
    ::umask(mask);
    REQUIRE(file);
    REQUIRE(file->write("wh"));
    REQUIRE(file->write("ole"));
    REQUIRE(file->finish(false));
    CHECK(read_file(path).value() == "whole");
    CHECK(fs::status(path).permissions() == fs::perms(0640));
    CHECK(std::distance(fs::directory_iterator(root->path()), {}) == 1);
}

TEST_CASE("what is written is not taken for what the dead left", "[fs]") {
    const auto root = TemporaryFolder::make(fs::temp_directory_path());
    REQUIRE(root);
    std::atomic<bool> done = false;
    std::thread remover([&] {
        while (!done) remove_dead_temporaries(root->path());
    });
    int lost = 0;
    for (int i = 0; i < 3000; ++i) {
        auto file = NewFile::make(root->path() / "x");
        if (!file || !file->write("whole") || !file->finish(false)) ++lost;
    }
    done = true;
    remover.join();
    CHECK(lost == 0);
}

TEST_CASE("pieces of a file overlap, so that nothing lies between two", "[fs]") {
    const auto root = TemporaryFolder::make(fs::temp_directory_path());
    REQUIRE(root);
    const auto path = root->path() / "file";
    // The word lies across the end of the first MiB, and again at the file's very end.
    std::string text((std::size_t{3} << 20U) + 5, 'x');
    text.replace((std::size_t{1} << 20U) - 2, 4, "word");
    text += "word";
    REQUIRE(write_file_atomically(path, text));
    for (const std::size_t overlap : {std::size_t{3}, std::size_t{0}, std::size_t{5000}}) {
        std::string all;
        std::vector<std::uint64_t> found;
        REQUIRE(read_in_pieces(path, overlap, [&](std::string_view piece, std::uint64_t at) {
            CHECK(all.size() - at == std::min<std::size_t>(overlap, all.size()));
            all.replace(at, std::string::npos, piece);
            for (auto place = piece.find("word"); place != std::string_view::npos;
                 place = piece.find("word", place + 1)) {
                if (found.empty() || found.back() != at + place) found.push_back(at + place);
            }
            return true;
        }));
        CHECK(all == text);
        if (overlap > 0)
            CHECK(found == std::vector<std::uint64_t>{(1U << 20U) - 2, text.size() - 4});
    }
    std::size_t pieces = 0;
    REQUIRE(read_in_pieces(path, 0, [&](std::string_view, std::uint64_t) {
        ++pieces;
        return false;
    }));
    CHECK(pieces == 1);
    CHECK(read_in_pieces(path / "no", 0, {}).error().kind == ErrorKind::Io);
}

TEST_CASE("what has no end is not read for ever", "[fs]") {
    const auto text = read_file("/dev/zero", 1U << 20U);
    REQUIRE_FALSE(text);
    CHECK(text.error().to_string() == "/dev/zero: larger than 1 MiB");
    CHECK(read_file("/dev/null", 1).value().empty());
}

TEST_CASE("a missing file is NotFound and named", "[fs]") {
    const auto text = read_file("/nowhere/at/all");
    REQUIRE_FALSE(text);
    CHECK(text.error().kind == ErrorKind::NotFound);
    CHECK(text.error().to_string() == "/nowhere/at/all: cannot open: No such file or directory");
}

TEST_CASE("zstd data is read back, and damage is an error", "[fs]") {
    const std::string text(100000, 'x');
    auto packed = zstd_compress(text, 3);
    CHECK(zstd_decompress(packed, "x.zst", 0).value() == text);
    CHECK(zstd_decompress(packed, "x.zst", 10).error().kind == ErrorKind::Integrity);
    CHECK(zstd_decompress(packed.substr(0, packed.size() - 3), "x.zst", 0).error().message ==
          "x.zst: truncated zstd data");
    CHECK_FALSE(zstd_decompress("not zstd at all", "x.zst", 0));
}

TEST_CASE("paths out of archives must stay inside", "[fs]") {
    for (const auto* good : {"a", "a/b", "./a", ".hidden", "a..b/c", "a\\x2db"})
        CHECK(is_safe_relative(good));
    for (const auto* bad : {"", "/a", "..", "a/../b", "C:/x"}) CHECK_FALSE(is_safe_relative(bad));
}

TEST_CASE("a temporary folder vanishes with its owner", "[fs]") {
    fs::path path;
    {
        auto folder = TemporaryFolder::make(fs::temp_directory_path());
        REQUIRE(folder);
        path = folder->path();
        REQUIRE(write_file_atomically(path / "x", ""));
    }
    CHECK_FALSE(fs::exists(path));
}

TEST_CASE("a pipe is read as long as somebody writes, and not waited for otherwise", "[fs]") {
    using namespace std::chrono_literals;
    const auto root = TemporaryFolder::make(fs::temp_directory_path());
    REQUIRE(root);
    const auto pipe = root->path() / "pipe";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    const auto writer = [&](const std::string& commands) {
        return std::thread([&, commands] {
            CHECK(std::system(("p='" + pipe.native() + "'; " + commands).c_str()) == 0);
        });
    };
    SECTION("nobody writes") {
        const auto start = std::chrono::steady_clock::now();
        const auto text = read_file(pipe);
        REQUIRE_FALSE(text);
        CHECK_THAT(text.error().message, ContainsSubstring("a pipe without a writer"));
        CHECK(std::chrono::steady_clock::now() - start < 10s);
        CHECK_FALSE(sha256_of_file(pipe));
    }
    SECTION("a writer that comes later, and takes its time") {
        auto thread = writer("sleep 0.3; (echo one; sleep 3; echo two) > \"$p\"");
        CHECK(read_file(pipe).value_or("") == "one\ntwo\n");
        thread.join();
    }
    SECTION("a writer that is silent for longer than one is waited for") {
        auto thread = writer("(sleep 3; echo late) > \"$p\"");
        CHECK(read_file(pipe).value_or("") == "late\n");
        thread.join();
    }
    SECTION("a writer that has nothing to say") {
        auto thread = writer(": > \"$p\"");
        CHECK(read_file(pipe).value_or("x").empty());
        thread.join();
    }
    SECTION("pipes without a name, also when their writer has gone") {
        for (const std::string text : {"some", ""}) {
            int ends[2];
            REQUIRE(::pipe(ends) == 0);
            REQUIRE(::write(ends[1], text.data(), text.size()) ==
                    static_cast<ssize_t>(text.size()));
            ::close(ends[1]);
            CHECK(read_file("/dev/fd/" + std::to_string(ends[0])).value_or("x") == text);
            ::close(ends[0]);
        }
    }
}

TEST_CASE("a program begun by a loader is the one it was told to be", "[fs]") {
    using namespace std::string_literals;
    const auto words = "/x/ld-linux-x86-64.so.2\0--argv0\0/opt/bin/gpkg\0--library-path\0l\0run\0"s;
    CHECK(program_of_loader("/x/ld-linux-x86-64.so.2", words) == fs::path("/opt/bin/gpkg"));
    CHECK(program_of_loader("/lib/ld-linux-aarch64.so.1", "l\0--argv0\0/g\0"s) == fs::path("/g"));
    CHECK(program_of_loader("/usr/bin/gpkg", "gpkg\0--argv0\0x\0"s) == std::nullopt);
    CHECK(program_of_loader("/x/ld-linux-x86-64.so.2", "ld\0gpkg\0"s) == std::nullopt);
    CHECK(program_of_loader("/x/ld-linux-x86-64.so.2", "ld\0--argv0"s) == std::nullopt);
    CHECK_FALSE(has_own_c_library());
    CHECK(own_program().value() == fs::canonical("/proc/self/exe"));
}
