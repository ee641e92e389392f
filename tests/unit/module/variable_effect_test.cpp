#include "libcore/module/variable_effect_internal.hpp"
#include "tests/support/catch.hpp"

using namespace gpkg;
using How = VariableEffect::How;

namespace variable_effect_test {
namespace {

constexpr std::nullopt_t none = std::nullopt;

/// What scripts left of a variable that held nothing, then "s1", then "s2".
std::optional<SeenEffect> effect(std::optional<std::string> first,
                                 std::optional<std::string> second,
                                 std::optional<std::string> third) {
    return effect_of("X", {"s1", "s2", std::move(first), std::move(second), std::move(third)});
}

bool is(const std::optional<SeenEffect>& seen, How how, const std::string& value) {
    return seen && seen->is_regular && seen->effect == VariableEffect{"X", how, value};
}

}  // namespace

TEST_CASE("what a script does to a variable, from what it leaves", "[module]") {
    CHECK(is(effect("v", "v", "v"), How::Set, "v"));                 // export X=v
    CHECK(is(effect("", "", ""), How::Set, ""));                     // export X=
    CHECK(is(effect(none, none, none), How::Unset, ""));             // unset X
    CHECK(is(effect("v", "s1", "s2"), How::SetIfUnset, "v"));        // export X=${X-v}
    CHECK(is(effect("v", "v:s1", "v:s2"), How::PrependPath, "v"));   // X=v${X:+:$X}
    CHECK(is(effect("v:", "v:s1", "v:s2"), How::PrependPath, "v"));  // X=v:$X
    CHECK(is(effect("v", "s1:v", "s2:v"), How::AppendPath, "v"));
    CHECK(is(effect(":v", "s1:v", "s2:v"), How::AppendPath, "v"));
    CHECK(is(effect("a:b", "a:b:s1", "a:b:s2"), How::PrependPath, "a:b"));
    CHECK(is(effect("-O2 -g", "-O2 -g s1", "-O2 -g s2"), How::PrependWords, "-O2 -g"));
    CHECK(is(effect(" -g", "s1 -g", "s2 -g"), How::AppendWords, "-g"));
}

TEST_CASE("a variable that scripts leave alone has no effect", "[module]") {
    CHECK_FALSE(effect(none, "s1", "s2"));
    // Their own, which is handed on only where it was handed to them.
    CHECK_FALSE(effect(none, "v", "v"));
    CHECK_FALSE(effect_of("X", {}));
}

TEST_CASE("what no rule gives is not taken for one", "[module]") {
    for (const auto& seen : {effect("v", "v", "w"),  // of the first letter of what was there
                             effect("v", "v:s1", "w:s2"),
                             effect("w", "v:s1", "v:s2"),  // another list where there was none
                             effect("v", "v+s1", "v+s2"),  // no separator that is known
                             effect("v", none, "v"),
                             effect("", "1s", "2s")}) {
        REQUIRE(seen);
        CHECK_FALSE(seen->is_regular);
    }
}

TEST_CASE("PATH is never without a value", "[module]") {
    const std::string path = "/env/bin:/usr/bin";
    const auto of = [&](const std::string& after) {
        return effect_of("PATH", {path, path, after, after, after});
    };
    CHECK_FALSE(of(path));
    REQUIRE(of("/opt/bin:" + path));
    CHECK(of("/opt/bin:" + path)->effect == VariableEffect{"PATH", How::PrependPath, "/opt/bin"});
    CHECK(of(path + ":/opt/bin")->effect == VariableEffect{"PATH", How::AppendPath, "/opt/bin"});
}

}  // namespace variable_effect_test
