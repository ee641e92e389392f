// Texts for the parsers of libcore/spec. Beyond not crashing, what is accepted must
// be read back as printed, versions must have one order, and every refusal must be made for people:
// one line that names the text, then the text and a caret.

#include "libcore/spec/condition.hpp"
#include "libcore/spec/match_spec.hpp"
#include "libcore/spec/names.hpp"
#include "tests/fuzz/engine.hpp"

#include <algorithm>
#include <compare>
#include <deque>
#include <optional>

using namespace gpkg;

namespace {

void check_refusal(const Error& error, std::string_view text) {
    if (error.kind != ErrorKind::Parse) fuzz_stop("not a parse error", text);
    if (error.message.size() > 1500) fuzz_stop("a refusal is too long", text);
    const auto caret = error.message.rfind('\n');
    if (caret == std::string::npos) return;  // a blank text is not shown
    if (std::count(error.message.begin(), error.message.end(), '\n') != 2 ||
        error.message.back() != '^')
        fuzz_stop("a refusal without a caret", text);
}

template <typename T>
std::optional<T> check(std::string_view text) {
    const auto parsed = T::parse(text);
    if (!parsed) {
        check_refusal(parsed.error(), text);
        return std::nullopt;
    }
    const auto again = T::parse(parsed->to_string());
    if (!again) fuzz_stop("printed text is refused", text);
    if (!(*again == *parsed)) fuzz_stop("printed text means something else", text);
    if (again->to_string() != parsed->to_string()) fuzz_stop("canonical text is not stable", text);
    return *parsed;
}

/// One order, with the versions met before: what is less than something less is less.
void check_order(const Version& version) {
    static std::deque<Version> met;
    for (const auto& a : met) {
        const auto order = version <=> a;
        const auto reverse = a <=> version;
        if (std::is_lt(order) != std::is_gt(reverse) || std::is_eq(order) != std::is_eq(reverse))
            fuzz_stop("not antisymmetric", version.to_string());
        if (std::is_eq(order) && a.hash() != version.hash())
            fuzz_stop("equal versions with two hashes", version.to_string());
        if (!std::is_lt(order)) continue;
        for (const auto& b : met) {
            if (a < b && !(version < b)) fuzz_stop("not transitive", version.to_string());
        }
    }
    met.push_back(version);
    if (met.size() > 8) met.pop_front();
}

const Version& some_version() {
    static const auto version = Version::parse("1!2.0.1a3_+local.5");
    return *version;
}

}  // namespace

void fuzz_one(std::string_view text) {
    const auto spec = check<MatchSpec>(text);
    check<Condition>(text);
    const auto version = check<Version>(text);
    const auto asked = check<VersionSpec>(text);
    if (const auto file = FileName::parse(text); !file) check_refusal(file.error(), text);

    const Version& subject = version ? *version : some_version();
    check_order(subject);
    if (!(subject == subject) || !subject.starts_with(subject)) fuzz_stop("not like itself", text);
    if (asked) (void)asked->matches(subject);
    if (spec)
        (void)spec->matches(MatchTarget{.name = "numpy",
                                        .version = &subject,
                                        .build = "py312_0",
                                        .channel = "https://conda.anaconda.org/conda-forge",
                                        .subdir = "linux-64"});
}

std::vector<std::string> fuzz_seeds() {
    return {
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
}

std::string_view fuzz_alphabet() { return "[]()'\"\\=<>!~,|*^$:#/.-_+ @;0123456789abcdevpost\n\t"; }
