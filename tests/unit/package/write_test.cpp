#include "libcore/package/write.hpp"

#include "libcore/package/info.hpp"
#include "libcore/package/paths.hpp"
#include "libcore/package/unpack.hpp"
#include "libcore/package/verify.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <sys/stat.h>

using namespace gpkg;

namespace write_test {
namespace {

const std::string kIndex =
    R"({"name": "tool", "version": "1.0", "build": "h123_0", "build_number": 0, "depends": []})";

struct Payload {
    Payload() {
        REQUIRE(root);
        const auto& p = root->path() / "payload";
        REQUIRE(write_file_atomically(p / "bin/tool", "#!/opt/placehold/bin/sh\n"));
        fs::permissions(p / "bin/tool", fs::perms(0777));
        REQUIRE(write_file_atomically(p / "lib/libtool.so",
                                      std::string("ELF\0/opt/placehold/lib\0", 23)));
        REQUIRE(write_file_atomically(p / "share/text", std::string(2000000, 't')));
        REQUIRE(write_file_atomically(p / ("share/" + std::string(120, 'd') + "/\xC3\xA9"), "e"));
        fs::create_symlink("libtool.so", p / "lib/libtool.so.1");
        fs::create_symlink("/nowhere", p / "lib/dangling");
        fs::create_directory(p / "share/empty");
        content.folder = p;
        content.files = {"share/text",
                         "bin/tool",
                         "lib/libtool.so.1",
                         "lib/libtool.so",
                         "lib/dangling",
                         "share/empty",
                         "share/" + std::string(120, 'd') + "/\xC3\xA9"};
        auto paths = describe_paths(p, content.files, "/opt/placehold");
        REQUIRE(paths);
        content.info = {{"index.json", kIndex},
                        {"paths.json", paths_json(*paths)},
                        {"licenses/LICENSE", "free\n"}};
    }
    fs::path write(const WriteOptions& options, const std::string& folder = "out") const {
        auto archive = write_conda(content, root->path() / folder, options);
        REQUIRE(archive);
        return *archive;
    }

    Result<TemporaryFolder> root = TemporaryFolder::make(fs::temp_directory_path());
    PackageContent content;
};

bool has_tool(const std::string& name) {
    if (std::system(("command -v " + name + " >/dev/null 2>&1").c_str()) == 0) return true;
    WARN(name + " is not installed: packages are not shown to it");
    return false;
}

bool run(const std::string& command) { return std::system(command.c_str()) == 0; }

}  // namespace

TEST_CASE("a package written is the package unpacked", "[package]") {
    const Payload payload;
    const bool conda = GENERATE(true, false);
    CAPTURE(conda);
    WriteOptions options;
    options.timestamp = 1700000000;
    options.zstd_level = 3;
    options.force_zip64 = GENERATE(false, true);
    const auto out = payload.root->path() / "out";
    const auto archive = conda ? write_conda(payload.content, out, options)
                               : write_tar_bz2(payload.content, out, options);
    REQUIRE(archive);
    CHECK(archive->filename() == (conda ? "tool-1.0-h123_0.conda" : "tool-1.0-h123_0.tar.bz2"));
    CHECK(std::distance(fs::directory_iterator(out), {}) == 1);

    const auto target = payload.root->path() / "target";
    const auto done = unpack_package(*archive, target);
    REQUIRE(done);
    CHECK(done->warnings.empty());
    CHECK(verify_unpacked(target));
    for (const auto& file : payload.content.files) {
        CAPTURE(file);
        const auto from = payload.content.folder / file;
        const auto to = target / file;
        if (fs::is_symlink(from)) {
            CHECK(fs::read_symlink(from) == fs::read_symlink(to));
        } else if (fs::is_directory(from)) {
            CHECK(fs::is_directory(to));
        } else {
            CHECK((read_file(from).value() == read_file(to).value()));
        }
    }
    struct stat status {};
    REQUIRE(::stat((target / "bin/tool").c_str(), &status) == 0);
    CHECK((status.st_mode & 0100U) != 0);
    CHECK(status.st_mtime == 1700000000);
    CHECK(read_file(target / "info/licenses/LICENSE").value() == "free\n");
    CHECK(read_package_info(*archive)->at("index.json") == kIndex);
}

TEST_CASE("the same content gives the same bytes", "[package]") {
    Payload payload;
    WriteOptions options;
    options.timestamp = 1700000000;
    options.zstd_level = 5;
    const auto first = sha256_of_file(payload.write(options, "one")).value();

    // Neither threads, nor the order of the list, nor times, owners, modes and the time zone count.
    options.threads = GENERATE(1, 2, 4);
    CAPTURE(options.threads);
    std::reverse(payload.content.files.begin(), payload.content.files.end());
    fs::last_write_time(payload.content.folder / "share/text", fs::file_time_type::clock::now());
    fs::permissions(payload.content.folder / "share/text", fs::perms(0600));
    ::setenv("TZ", "America/New_York", 1);
    ::tzset();
    const auto second = sha256_of_file(payload.write(options, "two")).value();
    ::unsetenv("TZ");
    ::tzset();
    CHECK(first == second);

    options.timestamp += 2;
    CHECK(sha256_of_file(payload.write(options, "three")).value() != first);
}

TEST_CASE("threads do not change the bytes of a large payload", "[package]") {
    const auto root = TemporaryFolder::make(fs::temp_directory_path());
    REQUIRE(root);
    std::string noise;
    unsigned state = 1;
    while (noise.size() < (24U << 20U)) {
        state = state * 1664525U + 1013904223U;
        noise += std::to_string(state >> 20U);
    }
    REQUIRE(write_file_atomically(root->path() / "p/noise", noise));
    const PackageContent content{root->path() / "p", {"noise"}, {{"index.json", kIndex}}};
    WriteOptions options;
    options.zstd_level = 1;
    const auto one = write_conda(content, root->path() / "one", options);
    options.threads = 3;
    const auto three = write_conda(content, root->path() / "three", options);
    REQUIRE(one);
    REQUIRE(three);
    CHECK(sha256_of_file(*one).value() == sha256_of_file(*three).value());
}

TEST_CASE("other tools read what is written", "[package]") {
    const Payload payload;
    WriteOptions options;
    options.timestamp = 1700000000;
    options.force_zip64 = GENERATE(false, true);
    CAPTURE(options.force_zip64);
    const auto archive = payload.write(options);
    const auto root = payload.root->path();
    if (has_tool("python3")) {
        const auto script = root / "check.py";
        REQUIRE(write_file_atomically(script, R"(
import sys, zipfile
z = zipfile.ZipFile(sys.argv[1])
assert z.testzip() is None
names = [i.filename for i in z.infolist()]
assert names == ["metadata.json", "pkg-tool-1.0-h123_0.tar.zst", "info-tool-1.0-h123_0.tar.zst"], names
for i in z.infolist():
    assert i.compress_type == zipfile.ZIP_STORED and not i.flag_bits & 8, i
    assert i.date_time == (2023, 11, 14, 22, 13, 20), i.date_time
)"));
        CHECK(run("python3 " + script.native() + " " + archive.native()));
    }
    if (has_tool("cph")) {
        const auto theirs = root / "theirs";
        const auto ours = root / "ours";
        REQUIRE(run("cph x --dest " + theirs.native() + " " + archive.native() + " >/dev/null"));
        REQUIRE(unpack_package(archive, ours));
        CHECK(run("diff -r --no-dereference " + theirs.native() + " " + ours.native()));
    }
}

TEST_CASE("packages of other tools are read", "[package]") {
    if (!has_tool("cph")) return;
    const Payload payload;
    const auto root = payload.root->path();
    const auto source = root / "tool-1.0-h123_0";
    REQUIRE(unpack_package(payload.write({}), source));
    const std::string extension = GENERATE(".conda", ".tar.bz2");
    CAPTURE(extension);
    const auto archive = root / ("tool-1.0-h123_0" + extension);
    REQUIRE(run("cd " + root.native() + " && cph c --out-folder " + root.native() + " " +
                source.native() + " " + archive.filename().native() + " >/dev/null"));
    const auto target = root / "again";
    const auto done = unpack_package(archive, target);
    INFO((done ? "" : done.error().to_string()));
    REQUIRE(done);
    CHECK(verify_unpacked(target));
    CHECK(run("diff -r --no-dereference " + source.native() + " " + target.native()));
    CHECK(read_package_info(archive)->at("index.json") == kIndex);
}

TEST_CASE("a package of conda-forge is read", "[package]") {
    // Debian's conda-package-handling brings one along, in both formats.
    const fs::path examples = "/usr/share/doc/conda-package-handling/examples";
    const std::string extension = GENERATE(".conda", ".tar.bz2");
    const auto archive = examples / ("mock-2.0.0-py37_1000" + extension);
    if (!fs::exists(archive)) {
        WARN(archive.native() + " is not installed: no real package is read");
        return;
    }
    const auto root = TemporaryFolder::make(fs::temp_directory_path());
    REQUIRE(root);
    const auto target = root->path() / "mock";
    const auto done = unpack_package(archive, target);
    INFO((done ? "" : done.error().to_string()));
    REQUIRE(done);
    CHECK(verify_unpacked(target));
    const auto record = read_index_json(target);
    REQUIRE(record);
    CHECK(record->distribution() == "mock-2.0.0-py37_1000");
    CHECK(record->depends.size() == 3);
    const auto paths = read_paths(target);
    REQUIRE(paths);
    CHECK(paths->size() > 10);
    CHECK_FALSE(read_about_json(target)->license.empty());
    const auto info = read_package_info(archive);
    REQUIRE(info);
    CHECK(info->at("paths.json") == read_file(target / "info/paths.json").value());
    CHECK(parse_hash_input(info->at("hash_input.json"), "hash_input.json"));
}

TEST_CASE("content that cannot become a package is refused", "[package]") {
    Payload payload;
    const auto refusal = [&] {
        const auto done = write_conda(payload.content, payload.root->path() / "out", {});
        REQUIRE_FALSE(done);
        CHECK_FALSE(fs::exists(payload.root->path() / "out/tool-1.0-h123_0.conda"));
        return done.error().message;
    };
    const auto folder = payload.content.folder.native();
    const auto files = payload.content.files;
    payload.content.files = {"../x"};
    CHECK(refusal() == folder + ": unsafe path \"../x\"");
    payload.content.files = {"info/x"};
    CHECK(refusal() == folder + ": path \"info/x\" is reserved for package managers");
    payload.content.files = {"bin/tool", "./bin/tool"};
    CHECK(refusal() == folder + ": file \"bin/tool\" is listed twice");
    payload.content.files = {"bin/missing"};
    CHECK(refusal() == folder + "/bin/missing: cannot open: No such file or directory");
    fs::create_directory_symlink("bin", payload.content.folder / "link");
    payload.content.files = {"link/tool"};
    CHECK(refusal() == folder + "/link/tool: cannot open: Not a directory");
    payload.content.files = files;
    payload.content.info["../x"] = "";
    CHECK(refusal() == "unsafe name in info/: \"../x\"");
    payload.content.info.erase("../x");
    payload.content.info.erase("index.json");
    CHECK(refusal() == "a package needs an index.json");
}

TEST_CASE("paths.json is made from what the files hold", "[package]") {
    const Payload payload;
    const auto paths = describe_paths(payload.content.folder,
                                      {"bin/tool",
                                       "lib/libtool.so",
                                       "lib/libtool.so.1",
                                       "lib/dangling",
                                       "share/empty",
                                       "share/text"},
                                      "/opt/placehold");
    REQUIRE(paths);
    const auto& p = *paths;
    CHECK(p[0].prefix_placeholder == "/opt/placehold");
    CHECK(p[0].mode == FileMode::Text);
    CHECK(p[1].prefix_placeholder == "/opt/placehold");
    CHECK(p[1].mode == FileMode::Binary);
    CHECK(p[2].type == PathType::SoftLink);
    CHECK(p[2].sha256 == p[1].sha256);
    CHECK(p[2].size_in_bytes == 23);
    CHECK(p[2].prefix_placeholder.empty());
    CHECK(p[3].sha256 == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(p[3].size_in_bytes == 0);
    CHECK(p[4].type == PathType::Directory);
    CHECK(p[5].size_in_bytes == 2000000);
    CHECK(p[5].prefix_placeholder.empty());
    CHECK(p[5].sha256 == sha256_of_file(payload.content.folder / "share/text").value());
}

TEST_CASE("a placeholder is found wherever it lies", "[package]") {
    const auto root = TemporaryFolder::make(fs::temp_directory_path());
    REQUIRE(root);
    const std::string placeholder = "/opt/placehold_placehold";
    // Around the edges of the pieces a file is read in.
    for (const std::size_t before : {0UL,
                                     1UL,
                                     (1UL << 20U) - 10,
                                     1UL << 20U,
                                     (1UL << 20U) + 13,
                                     (2UL << 20U) - 1,
                                     (2UL << 20U) + 5}) {
        CAPTURE(before);
        REQUIRE(write_file_atomically(root->path() / "f",
                                      std::string(before, 'a') + placeholder + "zz"));
        const auto paths = describe_paths(root->path(), {"f"}, placeholder);
        REQUIRE(paths);
        CHECK(paths->at(0).prefix_placeholder == placeholder);
        CHECK(paths->at(0).size_in_bytes == before + placeholder.size() + 2);
        CHECK(paths->at(0).sha256 == sha256_of_file(root->path() / "f").value());
    }
    REQUIRE(write_file_atomically(root->path() / "f", placeholder.substr(1)));
    CHECK(describe_paths(root->path(), {"f"}, placeholder)->at(0).prefix_placeholder.empty());
    CHECK(describe_paths(root->path(), {"f"}, "")->at(0).prefix_placeholder.empty());
}

TEST_CASE("links are described by what they lead to inside the package only", "[package]") {
    const auto root = TemporaryFolder::make(fs::temp_directory_path());
    REQUIRE(root);
    const auto p = root->path() / "p";
    const std::string empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    REQUIRE(write_file_atomically(root->path() / "outside", "secret"));
    REQUIRE(write_file_atomically(p / "real/file", "x"));
    fs::create_directory_symlink("real", p / "folder");
    fs::create_symlink("folder/file", p / "through");
    fs::create_symlink("through", p / "twice");
    fs::create_symlink("../outside", p / "escape");
    fs::create_symlink("loop", p / "loop");
    const auto paths = describe_paths(p, {"through", "twice", "escape", "loop", "folder"}, "");
    REQUIRE(paths);
    const auto x = sha256_of_file(p / "real/file").value();
    CHECK(paths->at(0).sha256 == x);
    CHECK(paths->at(1).sha256 == x);
    CHECK(paths->at(2).sha256 == empty);
    CHECK(paths->at(3).sha256 == empty);
    CHECK(paths->at(4).sha256 == empty);
}

}  // namespace write_test
