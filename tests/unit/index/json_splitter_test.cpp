#include "libcore/index/json_splitter_internal.hpp"
#include "tests/support/catch.hpp"

#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

using namespace gpkg;
using nlohmann::json;

namespace json_splitter_test {
namespace {

/// Gives at most `step` bytes at a time.
ByteSource in_steps(std::string text, std::size_t step) {
    return [text = std::move(text), step, at = std::size_t{0}](
               char* into, std::size_t room) mutable -> Result<std::size_t> {
        const auto count = std::min({step, room, text.size() - at});
        text.copy(into, count, at);
        at += count;
        return count;
    };
}

int depth_of(std::string_view key) { return key == "v3" ? 3 : key == "whole" ? 1 : 2; }

/// The pieces as texts; an error as its message.
std::vector<std::string> pieces(const std::string& text,
                                std::size_t piece,
                                std::size_t step,
                                std::vector<int>* reopened = nullptr) {
    JsonSplitter splitter(in_steps(text, step), {piece, 1000, depth_of});
    std::vector<std::string> all;
    while (true) {
        const auto next = splitter.next();
        if (!next) return {next.error().message};
        if (!*next) return all;
        all.emplace_back((*next)->text);
        if (reopened != nullptr) reopened->push_back((*next)->reopened);
    }
}

void merge(json& into, const json& more) {
    for (const auto& [key, value] : more.items()) {
        if (into.contains(key) && into[key].is_object() && value.is_object()) {
            merge(into[key], value);
        } else {
            into[key] = value;
        }
    }
}

/// What the pieces say together; a discarded value when one of them is not JSON.
json together(const std::vector<std::string>& all) {
    json sum = json::object();
    for (const auto& piece : all) {
        auto parsed = json::parse(piece, nullptr, false);
        if (parsed.is_discarded()) return parsed;
        merge(sum, parsed);
    }
    return sum;
}

const std::vector<std::string> kDocuments{
    "{}",
    R"( { "info" : { "a" : 1 } , "packages" : { } } )",
    R"({"packages":{"a":{"x":[1,{"y":{}}]},"b":{"x":"}{\"\\"},"c":{}},"removed":["x}","\\\"{"]})",
    R"({"v3":{"conda":{"a":{"n":{"m":{}}},"b":{}},"tar.bz2":{"c":{}}},"packages":{"z":{}}})",
    R"({"whole":{"a":{},"b":{}},"n":null,"t":true,"s":"","packages.conda":{"k\"{":{"v":1},"l":{}}})",
    R"({"a":[[{},{}],{"b":{}}],"b":{"c":[{}],"d":{"e":{}}}})",
    "{\"packages\":{\"\\\\\":{\"\\\\\\\"\":\"\\\\\"},\n\t\"u\" :\r\n{\"\\u007b\":\"\xc3\xa9\"}}}",
};

}  // namespace

TEST_CASE("the pieces of a document say what the document says", "[index]") {
    for (const auto& document : kDocuments) {
        for (const std::size_t piece : {1U, 5U, 20U, 64U, 1000U}) {
            for (const std::size_t step : {1U, 3U, 64U, 1000U}) {
                const auto all = pieces(document, piece, step);
                INFO(document << " in pieces of " << piece << ", read by " << step);
                CHECK(together(all) == json::parse(document));
            }
        }
    }
}

TEST_CASE("a piece ends between two members, never within one that is to stay whole", "[index]") {
    const std::string record = R"({"depends":["a"],"extra":{"b":{}}})";
    std::vector<int> reopened;
    const auto all =
        pieces(R"({"packages":{"a":)" + record + R"(,"b":)" + record + R"(},"v3":{"conda":{"c":)" +
                   record + R"(,"d":)" + record + R"(}},"whole":{"e":{},"f":{}}})",
               1,
               1000,
               &reopened);
    const std::vector<std::string> expected{
        R"({"packages":{"a":)" + record + "}}",
        R"({"packages":{"b":)" + record + "}}",
        R"({"packages":{}})",
        R"({"v3":{"conda":{"c":)" + record + "}}}",
        R"({"v3":{"conda":{"d":)" + record + "}}}",
        R"({"v3":{"conda":{}}})",
        R"({"v3":{}})",
        R"({"whole":{"e":{},"f":{}}})",
        "{}",
    };
    CHECK(all == expected);
    CHECK(reopened == std::vector<int>{0, 2, 2, 1, 3, 3, 2, 1, 1});
}

TEST_CASE("what is cut off or no JSON is not mended by cutting it", "[index]") {
    for (const auto& document : kDocuments) {
        const auto end = document.find_last_of('}');
        for (std::size_t size = 1; size <= end; ++size) {
            const auto part = document.substr(0, size);
            INFO(part);
            if (part.find_first_not_of(' ') == std::string::npos) continue;
            CHECK(together(pieces(part, 1, 64)).is_discarded());
        }
    }
    for (const auto* wrong : {R"({"packages":{"a":{},,"b":{}}})",
                              R"({"packages":{"a":{} "b":{}}})",
                              R"({"packages":{"a":{},}})",
                              R"({"packages":{"a":{}]})",
                              R"({"packages":{"a":{}}}})",
                              R"({"a":{}}{"b":{}})",
                              R"({"packages":{{},{}}})",
                              R"(["a",{"b":{}}])",
                              R"("{}")",
                              "\\"}) {
        INFO(wrong);
        const auto all = together(pieces(wrong, 1, 64));
        CHECK((all.is_discarded() || !json::parse(wrong, nullptr, false).is_discarded()));
    }
}

TEST_CASE("random documents come whole", "[index]") {
    std::mt19937 dice(1);
    const auto roll = [&](unsigned sides) { return static_cast<unsigned>(dice() % sides); };
    const auto text = [&] {
        static const std::vector<std::string> k_parts{
            "a", "\\", "\"", "{", "}", "[", ":", ",", " "};
        std::string made;
        for (auto left = roll(12); left > 0; --left) made += k_parts[roll(9)];
        return made;
    };
    const auto value = [&](const auto& self, int depth) -> json {
        const auto kind = roll(depth > 5 ? 2 : 4);
        if (kind == 0) return text();
        if (kind == 1) return roll(1000);
        json made = kind == 2 ? json::array() : json::object();
        for (auto left = roll(5); left > 0; --left) {
            if (kind == 2) {
                made.push_back(self(self, depth + 1));
            } else {
                made[text()] = self(self, depth + 1);
            }
        }
        return made;
    };
    for (int round = 0; round < 2000; ++round) {
        json document = json::object();
        for (const auto* key : {"packages", "v3", "whole", "x"}) {
            if (roll(4) > 0) document[key] = value(value, 1);
        }
        const auto written = document.dump(static_cast<int>(roll(4)) - 1);
        const auto all = pieces(written, 1 + roll(200), 1 + roll(300));
        INFO(written);
        if (all.size() == 1 && all[0].starts_with("a single record")) continue;
        REQUIRE(together(all) == document);
    }
}

TEST_CASE("memory is bounded by the longest member", "[index]") {
    const auto member = "\"" + std::string(300'000, 'x') + "\"";
    CHECK(pieces(R"({"a":)" + member + "}", 10, 1000) ==
          std::vector<std::string>{"a single record is larger than 0 MiB"});
    std::string many = R"({"packages":{)";
    for (int i = 0; i < 1000; ++i)
        many += (i > 0 ? ",\"" : "\"") + std::to_string(i) + R"(":{"x":")" + std::string(700, 'y') +
                "\"}";
    CHECK(together(pieces(many + "}}", 10, 100)).at("packages").size() == 1000);
}

}  // namespace json_splitter_test
