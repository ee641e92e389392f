#include "libcore/asking/accelerator_memory.hpp"

#include "tests/support/catch.hpp"
#include "tests/unit/asking/installed.hpp"

using namespace gpkg;
using namespace gpkg::tests;

namespace accelerator_memory_test {
namespace {

using Choice = AcceleratorChoice;
using Choices = std::vector<Choice>;

AcceleratorWishes wishes(const char* text) { return parse_accelerator_wishes(text).value(); }

Choices tried(const char* said, const GpkgState& state) {
    return accelerators_of(wishes(said), state).in_turn;
}

PackageRecord record(const char* build) { return installed("torch", "2", {}, build).package; }

}  // namespace

TEST_CASE("what was said of an environment holds for what is added later", "[asking]") {
    CHECK(tried("", {}) == Choices{Choice::Auto});
    const auto state = remembered(wishes("none torch=nvidia"));
    CHECK(tried("", state) == Choices{Choice::None});
    const auto later = accelerators_of(wishes(""), state);
    CHECK(later.choice("torch") == Choice::Nvidia);
    CHECK_FALSE(later.all_is_asked);
    CHECK_FALSE(later.is_asked("torch"));
    // To say the same again changes nothing, to say another does.
    CHECK_FALSE(accelerators_of(wishes("none"), state).all_is_asked);
    CHECK(accelerators_of(wishes("nvidia"), state).all_is_asked);
}

TEST_CASE("of several the one that was taken holds once a build shows it", "[asking]") {
    auto state = remembered(wishes("nvidia,none"));
    CHECK(state.accelerator.empty());
    CHECK(tried("", state) == Choices{Choice::Nvidia, Choice::None});
    remember_taken(state, Choice::None, {record("0")});
    CHECK(state.accelerator.empty());  // it knows of none
    remember_taken(state, Choice::None, {record("cpu_0")});
    CHECK(state.accelerator == "none");
    CHECK(tried("", state) == Choices{Choice::None});
    // Who says the same again may get what comes before it, and nothing behind.
    CHECK(tried("nvidia,none", state) == Choices{Choice::Nvidia, Choice::None});
    auto first = remembered(wishes("nvidia,none"));
    remember_taken(first, Choice::Nvidia, {record("cuda129_0")});
    CHECK(tried("nvidia,none", first) == Choices{Choice::Nvidia});
    CHECK(tried("amd,none", first) == Choices{Choice::Amd, Choice::None});
}

TEST_CASE("what falls back does so from what was said before", "[asking]") {
    AcceleratorWishes fallback;
    fallback.fallbacks = {Choice::None};
    CHECK(accelerators_of(fallback, {}).in_turn == Choices{Choice::Auto, Choice::None});
    CHECK(fallback.are_several());
    CHECK(accelerators_of(fallback, remembered(wishes("nvidia"))).in_turn ==
          Choices{Choice::Nvidia, Choice::None});
}

TEST_CASE("an accelerator that no package of the solution has builds for is told", "[asking]") {
    const std::vector<MatchSpec> specs{MatchSpec::parse("torch").value()};
    CHECK(note_on_no_gpu_build(wishes("nvidia"), specs, {record("h1_0")}) ==
          "accelerator nvidia has no effect yet: torch 2 and its dependencies have no CUDA builds");
    CHECK(note_on_no_gpu_build(wishes("amd"), specs, {record("h1_0")}) ==
          "accelerator amd has no effect yet: torch 2 and its dependencies have no ROCm builds");
    CHECK_FALSE(note_on_no_gpu_build(wishes("nvidia"), specs, {record("cuda129_0")}));
    CHECK_FALSE(note_on_no_gpu_build(wishes("nvidia"), specs, {record("cpu_0")}));
    CHECK(note_on_no_gpu_build(wishes("nvidia"), {}, {record("h1_0")}) ==
          "accelerator nvidia has no effect yet: no package has CUDA builds");
    CHECK_FALSE(note_on_no_gpu_build(wishes("nvidia"), specs, {}));
    CHECK_FALSE(note_on_no_gpu_build(wishes("nvidia,none"), specs, {record("h1_0")}));
    CHECK_FALSE(note_on_no_gpu_build(wishes("none"), specs, {record("h1_0")}));
}

TEST_CASE("a package's own choice goes with it, and is told where it stays", "[asking]") {
    auto state = remembered(wishes("none torch=nvidia"));
    CHECK(notes_on_own_choices(wishes("amd"), state, {"torch"}) ==
          std::vector<std::string>{"--accel does not change torch, which was requested with "
                                   "accel=nvidia; to change it: torch[accel=amd]"});
    CHECK(notes_on_own_choices(wishes("amd"), state, {"numpy"}).empty());
    const auto without = state_without(state, {installed("torch", "2")});
    REQUIRE(without);
    CHECK(without->package_accelerators.empty());
    CHECK_FALSE(state_without(state, {installed("numpy", "2")}));
}

}  // namespace accelerator_memory_test
