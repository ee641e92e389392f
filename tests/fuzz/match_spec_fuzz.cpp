// Throws mutated specs at the parsers of libcore/spec. `fuzz_one` is what a fuzzing engine would
// call; `main` is a small engine with a fixed seed:
//   match_spec_fuzz [TEXTS] [SEED]
// Beyond not crashing, what is accepted must be read back as printed, and every refusal must be
// made for people: one line that names the text, then the text and a caret.

#include "libcore/spec/condition.hpp"
#include "libcore/spec/match_spec.hpp"
#include "libcore/spec/names.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>

using namespace gpkg;

namespace {

[[noreturn]] void stop(const char* reason, std::string_view text) {
    std::fprintf(stderr, "%s: ", reason);
    for (const char c : text)
        std::fprintf(
            stderr, c >= ' ' && c <= '~' ? "%c" : "\\x%02x", static_cast<unsigned char>(c));
    std::fprintf(stderr, "\n");
    std::abort();
}

void check_refusal(const Error& error, std::string_view text) {
    if (error.kind != ErrorKind::Parse) stop("not a parse error", text);
    if (error.message.size() > 1500) stop("a refusal is too long", text);
    const auto caret = error.message.rfind('\n');
    if (caret == std::string::npos) return;  // a blank text is not shown
    if (std::count(error.message.begin(), error.message.end(), '\n') != 2 ||
        error.message.back() != '^')
        stop("a refusal without a caret", text);
}

template <typename T>
std::optional<T> check(std::string_view text) {
    const auto parsed = T::parse(text);
    if (!parsed) {
        check_refusal(parsed.error(), text);
        return std::nullopt;
    }
    const auto again = T::parse(parsed->to_string());
    if (!again) stop("printed text is refused", text);
    if (!(*again == *parsed)) stop("printed text means something else", text);
    if (again->to_string() != parsed->to_string()) stop("canonical text is not stable", text);
    return *parsed;
}

const Version& some_version() {
    static const auto version = Version::parse("1!2.0.1a3_+local.5");
    return *version;
}

}  // namespace

int fuzz_one(const char* data, std::size_t size) {
    const std::string_view text(data, size);
    const auto spec = check<MatchSpec>(text);
    check<Condition>(text);
    const auto version = check<Version>(text);
    const auto asked = check<VersionSpec>(text);
    if (const auto file = FileName::parse(text); !file) check_refusal(file.error(), text);

    const Version& subject = version ? *version : some_version();
    if (!(subject == subject) || !subject.starts_with(subject)) stop("not like itself", text);
    if (asked) (void)asked->matches(subject);
    if (spec)
        (void)spec->matches(MatchTarget{.name = "numpy",
                                        .version = &subject,
                                        .build = "py312_0",
                                        .channel = "https://conda.anaconda.org/conda-forge",
                                        .subdir = "linux-64"});
    return 0;
}

namespace {

constexpr std::array<std::string_view, 24> kSeeds{
    "numpy",
    "numpy >=1.8,<2|3.0",
    "numpy=1.11=py37_0",
    "numpy 1.8.*",
    "pkg >=1.0 , < 2.0 py34_0",
    "pkg * *_cpython",
    "conda-forge/linux-64::python>=3.10",
    "https://conda.anaconda.org/conda-forge/noarch::pkg",
    "https://h/c/linux-64/python-3.11.10-h123456_0.conda",
    "pkg[version='>=1,<2',build=\"py*\",build_number='>=3']",
    "pkg[extras=[a,'b'],flags=[\"cuda\",\"blas:*\"]]",
    "pkg[when=\"python>=3.10 and (__unix or __win)\"]",
    "a[when=\"b[version='1']\"]",
    "__win or (python<3.9 and __linux)",
    "^py(thon|py)$ ^1\\.[0-9]+$ ^h[0-9]$",
    "(1.5|1.6),!=1.6",
    "1!2.15.1_alpha+1.2.3h123",
    "2.7.*.*|>=3.6",
    "0.2.18.*.",
    "~=1.4.2",
    "1.*.3",
    "x264 >=1 !164.3095,<1!165",
    "py-sirius-ms-2.1+sirius6.0.3-pyhd8ed1ab_0.conda",
    "chan:ns:pkg[md5=0123456789abcdef0123456789abcdef] # comment",
};
constexpr std::string_view kAlphabet = "[]()'\"\\=<>!~,|*^$:#/.-_+ @;0123456789abcdevpost\n\t";

std::string mutated(std::mt19937_64& random) {
    const auto below = [&](std::size_t limit) { return limit == 0 ? 0 : random() % limit; };
    std::string text(kSeeds[below(kSeeds.size())]);
    for (auto changes = below(6); changes > 0; --changes) {
        const auto place = below(text.size() + 1);
        const char letter =
            below(20) == 0 ? static_cast<char>(below(256)) : kAlphabet[below(kAlphabet.size())];
        switch (below(6)) {
        case 0: text.insert(place, 1, letter); break;
        case 1: text.erase(place, 1 + below(4)); break;
        case 2: text.insert(place, text.substr(below(text.size() + 1), below(12))); break;
        case 3: text.insert(place, kSeeds[below(kSeeds.size())]); break;
        case 4: text.insert(place, below(200), letter); break;
        default:
            if (place < text.size()) text[place] = letter;
        }
    }
    return text;
}

}  // namespace

int main(int count, char** words) {
    const long texts = count > 1 ? std::atol(words[1]) : 30'000;
    std::mt19937_64 random(count > 2 ? std::strtoull(words[2], nullptr, 10) : 20260821U);
    using Clock = std::chrono::steady_clock;
    for (long i = 0; i < texts; ++i) {
        const auto text = mutated(random);
        const auto before = Clock::now();
        fuzz_one(text.data(), text.size());
        if (Clock::now() - before > std::chrono::seconds(2)) stop("slow", text);
    }
    std::printf("%ld texts, no crash\n", texts);
    return 0;
}
