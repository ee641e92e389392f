#include "libcore/spec/gpu_targets.hpp"

#include "tests/support/catch.hpp"

using namespace gpkg;

namespace {

CudaTarget target(std::string_view text) { return CudaTarget::parse(text).value(); }

std::string targets(std::string_view toolkit) {
    std::string all;
    for (const auto one : targets_of(parse_toolkit(toolkit).value())) all += one.to_string() + " ";
    return all;
}

}  // namespace

TEST_CASE("what toolkits make code for", "[spec]") {
    CHECK(targets("10.2") == "3.0 3.2 3.5 3.7 5.0 5.2 5.3 6.0 6.1 6.2 7.0 7.2 7.5 ");
    CHECK(targets("11.8") == "3.5 3.7 5.0 5.2 5.3 6.0 6.1 6.2 7.0 7.2 7.5 8.0 8.6 8.7 8.9 9.0 ");
    CHECK(targets("12.4") == "5.0 5.2 5.3 6.0 6.1 6.2 7.0 7.2 7.5 8.0 8.6 8.7 8.9 9.0 9.0a ");
    CHECK(targets("12.9") ==
          "5.0 5.2 5.3 6.0 6.1 6.2 7.0 7.2 7.5 8.0 8.6 8.7 8.9 9.0 9.0a 10.0 10.0a 10.1 10.1a 10.3 "
          "10.3a 12.0 12.0a 12.1 12.1a ");
    CHECK(
        targets("13.0") ==
        "7.5 8.0 8.6 8.7 8.8 8.9 9.0 9.0a 10.0 10.0a 10.3 10.3a 11.0 11.0a 12.0 12.0a 12.1 12.1a ");
    CHECK(targets("13.7") == targets("13.0"));
    CHECK(is_later_than_known(parse_toolkit("13.7").value()));
    CHECK_FALSE(is_later_than_known(parse_toolkit("13.0").value()));
    for (const auto* wrong :
         {"", "12", "12.7", "11.9", "12.10", "cuda12", "12.9.1.2", "1.0", "12.x"})
        CHECK_FALSE(parse_toolkit(wrong));
    CHECK(parse_toolkit("12.4.1").value() == parse_toolkit("12.4").value());
}

TEST_CASE("which code runs on which device", "[spec]") {
    struct Row {
        std::string_view code, device;
        bool native, ptx;
    };
    const auto row = GENERATE(values<Row>({
        {"8.0", "8.0", true, true},
        {"8.0", "8.6", true, true},
        {"8.6", "8.0", false, false},
        {"7.0", "7.5", true, true},
        {"8.0", "9.0", false, true},
        {"8.0", "8.7", false, true},    // a Tegra runs its own code
        {"8.7", "8.9", false, true},    // and others do not run it
        {"9.0", "9.0a", false, false},  // what is asked for is not in it
        {"9.0a", "9.0", true, false},
        {"9.0a", "9.0a", true, true},
        {"9.0a", "10.0", false, false},
        {"10.0", "10.3", true, true},
        {"10.0a", "10.3", false, false},
        {"10.0", "12.0", false, true},
        {"12.0", "12.1", true, true},
    }));
    INFO(row.code << " on " << row.device);
    CHECK(runs_natively(target(row.code), target(row.device)) == row.native);
    CHECK(runs_as_ptx(target(row.code), target(row.device)) == row.ptx);
}

TEST_CASE("names of targets", "[spec]") {
    CHECK(target("12.1a").to_string() == "12.1a");
    CHECK(target(" 7.5 ").capability == 75);
    for (const auto* wrong :
         {"", "8", "8.", ".8", "8.1", "80", "sm_80", "8.0b", "14.0", "5.0a", "-8.0"})
        CHECK_FALSE(CudaTarget::parse(wrong));
    CHECK(parse_gfx("GFX90A").value() == "gfx90a");
    CHECK(parse_gfx("gfx1100").value() == "gfx1100");
    for (const auto* wrong : {"gfx", "gfx9", "gfx9-generic", "gfx90a:xnack+", "mi300", "gfx12345"})
        CHECK_FALSE(parse_gfx(wrong));
    CHECK(generic_target("gfx942") == "gfx9-4-generic");
    CHECK(generic_target("gfx90a").empty());
}
