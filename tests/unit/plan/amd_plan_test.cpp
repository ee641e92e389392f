#include "libcore/plan/amd_plan.hpp"

#include "tests/support/catch.hpp"

using namespace gpkg;

TEST_CASE("targets for AMD's devices", "[plan]") {
    using Texts = std::vector<std::string>;
    const Texts devices{"gfx942", "gfx90a", "gfx950", "gfx1100", "gfx942"};
    CHECK(plan_amd(devices, false).targets == Texts{"gfx1100", "gfx90a", "gfx942", "gfx950"});
    const auto plan = plan_amd(devices, true);
    CHECK(plan.targets == Texts{"gfx1100", "gfx9-4-generic", "gfx90a"});
    CHECK(plan.served_by.at("gfx950") == "gfx9-4-generic");
    CHECK(plan.served_by.at("gfx1100") == "gfx1100");
    CHECK(plan_amd({}, true).targets.empty());
}
