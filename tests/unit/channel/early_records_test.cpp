// Indexes that are read while they arrive.

#include "libcore/base/digest.hpp"
#include "libcore/channel/early_records_internal.hpp"
#include "libcore/channel/fetch_index.hpp"
#include "libcore/channel/open_index.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/http_server.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace gpkg;
using namespace std::chrono_literals;
using tests::HttpServer;

namespace early_records_test {
namespace {

constexpr int kRecords = 4000;

std::string record(int i, std::string_view version, std::string_view sha256) {
    return fmt::format(
        R"("n{0}-{1}-0.conda":{{"name":"n{0}","version":"{1}","build":"0","build_number":0,"sha256":"{2}"}})",
        i,
        version,
        sha256);
}

/// Over 100 KiB as .zst.
std::string repodata(std::string_view version) {
    std::string json = R"({"packages.conda":{)";
    for (int i = 0; i < kRecords; ++i) {
        const auto sha256 = hex_digest(DigestKind::Sha256, fmt::format("{} {}", i, version));
        json += (i > 0 ? "," : "") + record(i, version, sha256);
    }
    return json + "}}";
}

struct Fixture {
    TemporaryFolder folder = TemporaryFolder::make(fs::temp_directory_path()).value();
    HttpServer server{folder.path() / "served"};
    std::unique_ptr<Transport> transport = make_transport();
    std::string base = server.url("/chan");
    std::string path = "/chan/noarch/repodata.json.zst";
    IndexOptions options;

    Fixture() {
        options.cache = folder.path() / "cache";
        options.transfer.retry = {2, 1ms, 10ms};
    }
    /// The size of the file.
    std::size_t put(std::string_view json) {
        const auto bytes = path.ends_with(".zst") ? zstd_compress(json, 3) : std::string(json);
        REQUIRE(bytes.size() > 2 * kSmallRepodata);
        REQUIRE(write_file_atomically(folder.path() / ("served" + path), bytes));
        return bytes.size();
    }
    Result<FetchedIndex> fetch() {
        const std::vector channels{Channel::parse(base, {}).value()};
        const std::vector<std::string> noarch{"noarch"};
        GPKG_TRY(auto all, fetch_indexes(*transport, channels, noarch, options));
        return std::move(all.front());
    }
    /// The version of all records, or the error.
    std::string version(const FetchedIndex& fetched) const {
        const auto index = open_index(fetched, options.cache);
        if (!index) return index.error().to_string();
        if ((*index)->record_count() != kRecords) return "not all records";
        const auto found = (*index)->find("n3").value();
        return (*index)->record(found, found.rows()[0])->version;
    }
    std::vector<std::string> cached() const {
        std::vector<std::string> files;
        std::error_code none;
        for (const auto& entry : fs::directory_iterator(options.cache, none))
            files.push_back(entry.path().filename().native());
        return files;
    }
    std::size_t cached(std::string_view ending) const {
        const auto files = cached();
        return static_cast<std::size_t>(std::count_if(
            files.begin(), files.end(), [&](auto& file) { return file.ends_with(ending); }));
    }
};

/// Who opens the file from now on finds no record in it.
void spoil(const FetchedIndex& fetched) {
    REQUIRE(write_file_atomically(fetched.path, std::string(fs::file_size(fetched.path), 'x')));
}

}  // namespace

TEST_CASE("what was read on the way is not read again", "[channel]") {
    Fixture f;
    const bool is_zst = GENERATE(true, false);
    if (!is_zst) f.path = "/chan/noarch/repodata.json";
    f.put(repodata("1"));
    SECTION("over a slow network") { f.server.reply(f.path, {.pause = 10ms}); }
    SECTION("of unknown length") { f.server.reply(f.path, {.chunked = true}); }
    SECTION("from elsewhere") {
        f.server.reply("/moved" + f.path, {.status = 301, .headers = {{"Location", f.path}}});
        f.base = f.server.url("/moved/chan");
        if (!is_zst)
            f.server.reply("/moved/chan/noarch/repodata.json.zst", {.status = 404, .body = ""});
    }
    SECTION("broken off and resumed") {
        f.server.reply(f.path, {.cut_after = 60'000}, 1);
        SECTION("once") {}
        SECTION("with a reset") { f.server.reply(f.path, {.cut_after = 20'000, .reset = true}, 1); }
        f.options.transfer.retry.tries = 3;
    }
    SECTION("behind a server that is ill first") { f.server.reply(f.path, {.status = 503}, 1); }
    const auto fetched = f.fetch().value();
    REQUIRE(fetched.early);
    spoil(fetched);
    CHECK(f.version(fetched) == "1");
    CHECK(f.cached(".index") == 1);
    CHECK(f.cached().size() == 3);
}

TEST_CASE("what was read of a body that begins anew is forgotten", "[channel]") {
    Fixture f;
    f.put(repodata("2"));
    f.server.set_ranges(false);
    const auto old = zstd_compress(repodata("1"), 3);
    f.server.reply(f.path, {.body = old, .cut_after = old.size() - 10, .pause = 1ms}, 1);
    const auto fetched = f.fetch().value();
    REQUIRE(f.server.count(f.path) == 2);
    REQUIRE(fetched.early);
    spoil(fetched);
    CHECK(f.version(fetched) == "2");
}

TEST_CASE("what cannot be read early is told as ever, and leaves no index", "[channel]") {
    Fixture f;
    auto json = repodata("1");
    std::string said;
    SECTION("cut off") {
        const auto bytes = zstd_compress(json, 3);
        f.server.reply(f.path, {.body = bytes.substr(0, bytes.size() - 1000)});
        said = "truncated zstd data";
    }
    SECTION("no JSON at its end") {
        f.put(json + "x");
        said = "invalid or truncated JSON";
    }
    SECTION("of a newer version") {
        json.back() = ',';
        f.put(json + R"("repodata_version":3})");
        said = "unsupported repodata_version";
    }
    for (int i = 0; i < 2; ++i) {
        const auto fetched = f.fetch().value();
        CHECK_THAT(f.version(fetched), ContainsSubstring(f.base + "/noarch/repodata.json.zst: "));
        CHECK_THAT(f.version(fetched), ContainsSubstring(said));
        CHECK(f.cached(".index") == 0);
        CHECK(f.cached().size() == 2);
    }
}

TEST_CASE("what was fetched before is not read", "[channel]") {
    Fixture f;
    f.put(repodata("1"));
    REQUIRE(f.version(f.fetch().value()) == "1");
    const auto again = f.fetch().value();
    CHECK(again.from_cache);
    CHECK_FALSE(again.early);
    REQUIRE(again.index);
    CHECK(open_index(again, f.options.cache).value() == again.index);
    CHECK(f.version(again) == "1");

    f.put(repodata("2"));
    const auto changed = f.fetch().value();
    CHECK_FALSE(changed.index);
    CHECK(f.version(changed) == "2");

    // The same bytes anew: the index that was made of them does.
    REQUIRE(forget_index(f.options.cache, changed));
    const auto anew = f.fetch().value();
    CHECK(anew.early);
    CHECK(f.version(anew) == "2");
    CHECK_FALSE(anew.early->take());
}

TEST_CASE("of a transfer that fails nothing is left", "[channel]") {
    Fixture f;
    const auto size = f.put(repodata("1"));
    SECTION("broken off each time") {
        f.server.set_ranges(false);
        f.server.reply(f.path, {.cut_after = size - 10});
        CHECK(f.fetch().error().kind == ErrorKind::Network);
    }
    SECTION("longer than it may be") {
        f.options.most_bytes = size - 1;
        f.server.reply(f.path, {.chunked = true});
        CHECK(f.fetch().error().kind == ErrorKind::Integrity);
    }
    SECTION("a page of somebody else") {
        f.server.reply(f.path, {.body = "<html>" + std::string(size, ' ')});
        CHECK(f.fetch().error().kind == ErrorKind::Integrity);
    }
    SECTION("while another one comes whole") {
        f.server.reply("/chan/linux-64/repodata.json.zst", {.status = 500, .body = ""});
        const std::vector channels{Channel::parse(f.base, {}).value()};
        const std::vector<std::string> subdirs{"linux-64", "noarch"};
        CHECK_FALSE(fetch_indexes(*f.transport, channels, subdirs, f.options));
        CHECK(f.cached().size() == 2);
        CHECK(f.cached(".index") == 0);
        return;
    }
    CHECK(f.cached().empty());
}

TEST_CASE("a stop ends the reading as well", "[channel]") {
    Fixture f;
    const auto size = f.put(repodata("1"));
    f.server.reply(f.path, {.stall_after = size - 10});
    std::stop_source stop;
    f.options.transfer.stop = stop.get_token();
    const std::jthread later([&] {
        std::this_thread::sleep_for(100ms);
        stop.request_stop();
    });
    const auto start = std::chrono::steady_clock::now();
    CHECK(f.fetch().error().kind == ErrorKind::Interrupted);
    CHECK(std::chrono::steady_clock::now() - start < 2s);
    CHECK(f.cached().empty());
}

TEST_CASE("a process that is killed on the way leaves nothing that is used", "[channel]") {
    std::array<int, 2> pipe{};
    REQUIRE(::pipe(pipe.data()) == 0);
    const auto child = ::fork();
    if (child == 0) {
        std::array<char, 4096> said{};
        if (::read(pipe[0], said.data(), said.size()) <= 0) ::_exit(1);
        const std::string text(said.data());
        const auto transport = make_transport();
        IndexOptions options;
        options.cache = text.substr(text.find(' ') + 1);
        const std::vector channels{Channel::parse(text.substr(0, text.find(' ')), {}).value()};
        const std::vector<std::string> noarch{"noarch"};
        (void)fetch_indexes(*transport, channels, noarch, options);
        ::_exit(1);
    }
    Fixture f;
    const auto size = f.put(repodata("1"));
    f.server.reply(f.path, {.stall_after = size - 10}, 1);
    const auto said = fmt::format("{} {}", f.base, f.options.cache.native());
    REQUIRE(::write(pipe[1], said.c_str(), said.size() + 1) > 0);
    const auto arrived = [&] {
        for (const auto& file : f.cached()) {
            if (fs::file_size(f.options.cache / file) == size - 10) return true;
        }
        return false;
    };
    for (int i = 0; i < 500 && !arrived(); ++i) std::this_thread::sleep_for(10ms);
    CHECK(arrived());
    REQUIRE(::kill(child, SIGKILL) == 0);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));
    for (const int end : pipe) ::close(end);

    CHECK(f.cached().size() == 1);
    f.options.transfer.offline = true;
    CHECK(f.fetch().error().kind == ErrorKind::NotFound);
    f.options.transfer.offline = false;
    CHECK(f.version(f.fetch().value()) == "1");
}

TEST_CASE("many fetch and read one index at once", "[channel]") {
    Fixture f;
    f.put(repodata("1"));
    std::vector<std::string> versions(6);
    for_each_index(versions.size(), versions.size(), [&](std::size_t i) {
        const auto fetched = f.fetch();
        versions[i] = fetched ? f.version(*fetched) : fetched.error().to_string();
    });
    CHECK(versions == std::vector<std::string>(6, "1"));
    CHECK(f.cached().size() == 3);
}

#ifndef GPKG_SANITIZED  // sanitizers keep what was freed
TEST_CASE("an index is read on the way in bounded memory", "[channel]") {
    // 90 MiB of text in few MiB of .zst, which the server holds.
    const std::string sha256(64, '0');
    std::string packed = zstd_compress(R"({"packages.conda":{)", 1);
    constexpr int kVersions = 160;
    for (int version = 0; version < kVersions; ++version) {
        std::string text;
        for (int i = 0; i < kRecords; ++i)
            text += (version + i > 0 ? "," : "") + record(i, std::to_string(version), sha256);
        packed += zstd_compress(text, 1);
    }
    packed += zstd_compress("}}", 1);
    Fixture f;
    REQUIRE(write_file_atomically(f.folder.path() / ("served" + f.path), packed));
    packed = {};
    const auto peak = [] {
        rusage used{};
        ::getrusage(RUSAGE_SELF, &used);
        return used.ru_maxrss / 1024;
    };
    const auto before = peak();
    const auto fetched = f.fetch().value();
    spoil(fetched);
    const auto index = open_index(fetched, f.options.cache).value();
    CHECK(index->record_count() == std::size_t{kRecords} * kVersions);
    CHECK(peak() - before < 60);
}
#endif

}  // namespace early_records_test
