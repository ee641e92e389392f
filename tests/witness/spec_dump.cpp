// Answers questions about versions and specs, one tab-separated line each, so that other programs
// can compare their answers with gpkg's:
//   compare A B            <, = or >
//   match SPEC VERSION...  the version part of a MatchSpec asked of each: 1 or 0
//   print SPEC             the canonical text of a MatchSpec
// A text that cannot be read is answered with "error".

#include "libcore/base/text.hpp"
#include "libcore/spec/match_spec.hpp"

#include <iostream>
#include <string>
#include <unordered_map>

using namespace gpkg;

namespace {

const Version* parsed(std::string_view text) {
    static std::unordered_map<std::string, std::optional<Version>> known;
    auto [place, is_new] = known.try_emplace(std::string(text));
    if (is_new) {
        if (auto version = Version::parse(text)) place->second = *std::move(version);
    }
    return place->second ? &*place->second : nullptr;
}

std::string compare(std::string_view a, std::string_view b) {
    const auto* first = parsed(a);
    const auto* second = parsed(b);
    if (first == nullptr || second == nullptr) return "error";
    const auto order = *first <=> *second;
    return std::is_lt(order) ? "<" : std::is_gt(order) ? ">" : "=";
}

std::string match(const std::vector<std::string_view>& words) {
    const auto asked = MatchSpec::parse(words[1]);
    if (!asked) return "error";
    std::string answer;
    for (std::size_t i = 2; i < words.size(); ++i) {
        const auto* version = parsed(words[i]);
        if (version == nullptr) return "error";
        answer += !asked->version || asked->version->matches(*version) ? '1' : '0';
    }
    return answer;
}

std::string answer_to(std::string_view line) {
    const auto words = split(line, '\t');
    if (words[0] == "compare" && words.size() == 3) return compare(words[1], words[2]);
    if (words[0] == "match" && words.size() >= 2) return match(words);
    if (words[0] == "print" && words.size() == 2) {
        const auto asked = MatchSpec::parse(words[1]);
        return asked ? asked->to_string() : "error";
    }
    return "error";
}

}  // namespace

int main() {
    std::ios::sync_with_stdio(false);
    for (std::string line; std::getline(std::cin, line);) std::cout << answer_to(line) << '\n';
}
