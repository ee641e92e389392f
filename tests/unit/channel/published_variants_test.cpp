#include "libcore/channel/published_variants.hpp"

#include "libcore/net/url.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/http_server.hpp"

#include <fmt/format.h>

using namespace gpkg;
using namespace std::chrono_literals;
using tests::HttpServer;

namespace published_variants_test {
namespace {

std::string document(const std::string& conda, const std::string& packages = "") {
    return fmt::format(
        R"({{"info": {{"subdir": "linux-64", "version": 1}}, "packages": {{{}}}, "packages.conda": {{{}}}}})",
        packages,
        conda);
}

struct Fixture {
    TemporaryFolder folder = TemporaryFolder::make(fs::temp_directory_path()).value();
    std::optional<HttpServer> server{folder.path() / "served"};
    std::unique_ptr<Transport> transport = make_transport();
    std::string base = server->url("/chan");
    IndexOptions options;
    std::int64_t time = 1'000'000;

    Fixture() {
        options.cache = folder.path() / "cache";
        options.transfer.retry = {2, 1ms, 10ms};
        options.now = [this] { return time; };
    }
    void put(const std::string& name, std::string_view bytes) const {
        REQUIRE(write_file_atomically(folder.path() / "served/chan/linux-64" / name, bytes));
    }
    PublishedVariants fetch() {
        if (server) server->forget_requests();
        const std::vector<VariantsWanted> wanted{
            {Channel::parse(base, {}).value(), "linux-64", {"a.conda", "b.tar.bz2"}}};
        auto found = fetch_variants(*transport, wanted, options);
        REQUIRE(found);
        return std::move(found->front());
    }
    /// Files asked for since the last fetch began.
    std::string asked() const {
        std::string files;
        for (const auto& request : server->requests())
            files += request.target.substr(request.target.rfind('/')) + " ";
        return files;
    }
};

const VariantInputs kA{{"cuda", "12"}};

}  // namespace

TEST_CASE("of a file of variants what is asked for is read", "[channel]") {
    struct Row {
        std::string text, read;
    };
    // clang-format off
    const std::vector<Row> rows{
        {document(R"("a.conda": {"x": "1", "y": "two"})"),                      "a.conda x=1 y=two; "},
        {document(R"("a.conda": {"x": 1, "y": true, "z": 1.50 })"),             "a.conda x=1 y=true z=1.50; "},
        {document(R"("a.conda": {}, "c.conda": {"x": []})"),                    "a.conda; "},
        {document(R"("a.conda": {"x": "\u00e4\"\n"})"),                      "a.conda x=\xC3\xA4\"\n; "},
        {document(R"("c.conda": {"x": "1"})", R"("b.tar.bz2": {"k": "v"})"),    "b.tar.bz2 k=v; "},
        // What is no text is left out with its package, and the rest is read.
        {document(R"("a.conda": {"x": {"y": "1"}})", R"("b.tar.bz2": {"k": "v"})"), "b.tar.bz2 k=v; "},
        {document(R"("a.conda": {"x": ["y"], "z": "1"})"),                      ""},
        {document(R"("a.conda": null)"),                                        ""},
        {document(R"("a.conda": "x")"),                                         ""},
        {R"({"packages.conda": {"a.conda": {"x": "1"}}, "info": {"version": 1}})",  "a.conda x=1; "},
        {R"({"info": {"version": 1}})",                                         ""},
        {R"({"info": {"version": 1}, "packages": []})", "error: f: 'packages': "
            "The JSON element does not have the requested type."},
        {"",                                            "error: f: not a JSON object"},
        {"[]",                                          "error: f: not a JSON object"},
        {"{}",                                          "error: f: has no info.version"},
        {R"({"info": {"version": "1"}})",               "error: f: has no info.version"},
        {R"({"info": {"version": 2}})",                 "error: f: unsupported version 2 (this gpkg supports 1)"},
    };
    // clang-format on
    const std::vector<std::string> files{"a.conda", "b.tar.bz2"};
    for (const auto& row : rows) {
        CAPTURE(row.text);
        for (const bool packed : {false, true}) {
            const auto found =
                read_variants(packed ? zstd_compress(row.text, 1) : row.text, files, "f");
            std::string read = found ? "" : "error: " + found.error().message;
            for (const auto& [file, inputs] : found ? found->inputs : PublishedVariants().inputs) {
                read += file;
                for (const auto& [key, value] : inputs) read += fmt::format(" {}={}", key, value);
                read += "; ";
            }
            CHECK(read == row.read);
        }
    }
    const auto cut = document(R"("a.conda": {"x": "1"}, "c.conda": {)").substr(0, 90);
    CHECK_FALSE(read_variants(cut, files, "f"));
}

TEST_CASE("the file of variants is kept and confirmed", "[channel]") {
    Fixture f;
    const auto text = document(R"("a.conda": {"cuda": "12"}, "c.conda": {"cuda": "11"})");
    f.put("variants.json.zst", zstd_compress(text, 1));
    CHECK(f.fetch().inputs == decltype(PublishedVariants::inputs){{"a.conda", kA}});
    CHECK(f.asked() == "/variants.json.zst ");
    CHECK(f.fetch().inputs.at("a.conda") == kA);
    REQUIRE(f.server->requests().size() == 1);
    CHECK(f.server->requests()[0].headers.contains("if-none-match"));

    f.options.transfer.offline = true;
    CHECK(f.fetch().inputs.at("a.conda") == kA);
    CHECK(f.asked().empty());
    f.options.transfer.offline = false;

    f.put("variants.json.zst", zstd_compress(document(R"("a.conda": {"cuda": "13"})"), 1));
    CHECK(f.fetch().inputs.at("a.conda").at("cuda") == "13");

    // A server in trouble costs a warning, and the copy is used.
    f.server->reply("/chan/linux-64/variants.json.zst", {.status = 500});
    auto found = f.fetch();
    CHECK(found.inputs.at("a.conda").at("cuda") == "13");
    REQUIRE(found.warnings.size() == 1);
    CHECK_THAT(found.warnings[0], ContainsSubstring("variants.json.zst: server error"));
}

TEST_CASE("a channel without a file of variants is asked once a day", "[channel]") {
    Fixture f;
    SECTION("not there") {}
    SECTION("forbidden") {
        f.server->reply("/chan/linux-64/variants.json.zst", {.status = 403});
        f.server->reply("/chan/linux-64/variants.json", {.status = 403});
    }
    SECTION("a page in its place") {
        f.server->reply("/chan/linux-64/variants.json.zst", {.body = "<html>no"}, 1);
    }
    auto found = f.fetch();
    CHECK(found.inputs.empty());
    CHECK(found.warnings.empty());
    CHECK_FALSE(f.asked().empty());
    f.put("variants.json", document(R"("a.conda": {"cuda": "12"})"));
    f.time += 86'000;
    CHECK(f.fetch().inputs.empty());
    CHECK(f.asked().empty());
    f.server.emplace(f.folder.path() / "served");
    f.base = f.server->url("/chan");
    CHECK(f.fetch().inputs.at("a.conda") == kA);
    CHECK(f.asked() == "/variants.json.zst /variants.json ");
    // Then the one that was there is asked for first.
    CHECK(f.fetch().inputs.at("a.conda") == kA);
    CHECK(f.asked() == "/variants.json ");
}

TEST_CASE("a channel of files, and files that are damaged", "[channel]") {
    Fixture f;
    f.base = file_url(f.folder.path() / "served/chan");
    CHECK(f.fetch().inputs.empty());
    f.put("variants.json.zst", zstd_compress(document(R"("a.conda": {"cuda": "12"})"), 1));
    CHECK(f.fetch().inputs.at("a.conda") == kA);
    f.put("variants.json", "{");
    auto found = f.fetch();
    CHECK(found.inputs.empty());
    REQUIRE(found.warnings.size() == 1);

    f.base = f.server->url("/chan");
    f.put("variants.json.zst", "\x28\xb5\x2f\xfd damaged");
    found = f.fetch();
    REQUIRE(found.warnings.size() == 1);
    CHECK_THAT(found.warnings[0], ContainsSubstring("not valid zstd data"));
    // It is not asked whether the damage has changed.
    f.fetch();
    REQUIRE(f.server->requests().size() == 1);
    CHECK_FALSE(f.server->requests()[0].headers.contains("if-none-match"));
}

}  // namespace published_variants_test
