#include "libcore/hardware/gpu_targets.hpp"

#include "tests/support/catch.hpp"

using namespace gpkg;

namespace gpu_targets_test {
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
          "5.0 5.2 5.3 6.0 6.1 6.2 7.0 7.2 7.5 8.0 8.6 8.7 8.9 9.0 9.0a 10.0 10.0f 10.0a 10.1 "
          "10.1f 10.1a 10.3 10.3f 10.3a 12.0 12.0f 12.0a 12.1 12.1f 12.1a ");
    // What `nvcc --help` of 13.0 lists.
    CHECK(targets("13.0") ==
          "7.5 8.0 8.6 8.7 8.8 8.9 9.0 9.0a 10.0 10.0f 10.0a 10.3 10.3f 10.3a 11.0 11.0f 11.0a "
          "12.0 12.0f 12.0a 12.1 12.1f 12.1a ");
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
        {"9.0a", "9.0", true, true},
        {"9.0a", "9.0a", true, true},
        {"9.0a", "10.0", false, false},
        {"10.0", "10.3", true, true},
        {"10.0a", "10.3", false, false},
        {"10.0", "12.0", false, true},
        {"12.0", "12.1", true, true},
        {"12.0a", "12.1", false, false},
        // "CUDA C++ Programming Guide", Family-Specific Features: 10.0f is for 10.0 and 10.3.
        {"10.0f", "10.0", true, true},
        {"10.0f", "10.3", true, true},
        {"10.3f", "10.0", false, false},
        {"10.0f", "12.0", false, false},
        {"12.0f", "12.1", true, true},
        {"12.0", "12.0f", false, false},
        {"12.0a", "12.0f", true, true},
        {"12.0f", "12.0a", false, false},
    }));
    INFO(row.code << " on " << row.device);
    CHECK(runs_natively(target(row.code), target(row.device)) == row.native);
    CHECK(runs_as_ptx(target(row.code), target(row.device)) == row.ptx);
}

TEST_CASE("names of targets", "[spec]") {
    CHECK(target("12.1a").to_string() == "12.1a");
    CHECK(target("12.1f").digits() == "121f");
    CHECK(CudaTarget::of(Version::parse("15.2a").value()).to_string() == "15.2a");
    CHECK(target(" 7.5 ").capability == 75);
    for (const auto* wrong :
         {"", "8", "8.", ".8", "8.1", "80", "sm_80", "8.0b", "14.0", "5.0a", "9.0f", "-8.0"})
        CHECK_FALSE(CudaTarget::parse(wrong));
    CHECK(parse_gfx("GFX90A").value() == "gfx90a");
    CHECK(parse_gfx("gfx1100").value() == "gfx1100");
    for (const auto* wrong : {"gfx", "gfx9", "gfx9-generic", "gfx90a:xnack+", "mi300", "gfx12345"})
        CHECK_FALSE(parse_gfx(wrong));
    CHECK(generic_target("gfx942") == "gfx9-4-generic");
    CHECK(generic_target("gfx90a").empty());
    for (const auto* known : {"gfx906", "gfx90a", "gfx9-4-generic", "gfx1250"})
        CHECK(is_known_gfx(known));
    for (const auto* unknown : {"gfx999", "gfx13-generic", "gfx", ""})
        CHECK_FALSE(is_known_gfx(unknown));
}

TEST_CASE("gfx names and versions are two spellings of one number", "[spec]") {
    struct Row {
        std::uint32_t number;
        std::string name, version;
    };
    // clang-format off
    const auto row = GENERATE(values<Row>({
        {90000, "gfx900", "9.0.0"},   {90006, "gfx906", "9.0.6"},    {90010, "gfx90a", "9.0.10"},
        {90402, "gfx942", "9.4.2"},   {90500, "gfx950", "9.5.0"},    {100300, "gfx1030", "10.3.0"},
        {110000, "gfx1100", "11.0.0"}, {110501, "gfx1151", "11.5.1"}, {120001, "gfx1201", "12.0.1"},
    }));
    // clang-format on
    CHECK(gpkg::gfx_name(row.number) == row.name);
    CHECK(gpkg::gfx_version(row.name) == row.version);
    CHECK(gpkg::gfx_of_version(row.version) == row.name);
}

TEST_CASE("what is no gfx name has no version", "[spec]") {
    const auto text = GENERATE("",
                               "gfx",
                               "gfx9",
                               "gfx90",
                               "gfx90g",
                               "90a",
                               "gfx10-3-generic",
                               "gfxabc",
                               "GFX90A",
                               "gfx12345",
                               "gfx90a:xnack-");
    CAPTURE(text);
    CHECK_FALSE(gpkg::gfx_version(text));
    CHECK_FALSE(gpkg::gfx_name(0));
    for (const auto* version : {"", "9.0", "0.0.0", "9.0.16", "any", "99999999999999999999.0.0"})
        CHECK_FALSE(gpkg::gfx_of_version(version));
    CHECK_FALSE(gpkg::gfx_name(91600));  // minor 16 has no hex digit
}

TEST_CASE("GPU code as PyTorch, CMake and nvcc ask for it", "[spec]") {
    struct Row {
        std::string text;
        gpkg::CudaCode code;
    };
    const std::vector<Row> rows = {
        {"8.0", {{80}, true, false}},
        {"9.0a", {{90, CudaTarget::Features::Specific}, true, false}},
        {"12.0+PTX", {{120}, true, true}},
        {"80", {{80}, true, true}},
        {"90a-real", {{90, CudaTarget::Features::Specific}, true, false}},
        {"120-virtual", {{120}, false, true}},
        {"100f", {{100, CudaTarget::Features::Family}, true, true}},
        {"sm_86", {{86}, true, false}},
        {"compute_75", {{75}, false, true}},
    };
    for (const auto& row : rows) {
        CAPTURE(row.text);
        const auto code = gpkg::parse_cuda_code(row.text);
        REQUIRE(code);
        CHECK(*code == row.code);
    }
    for (const auto* text : {"", "x", "8", "8.0+ptx", "native", "all-major", "99.9", "sm_"}) {
        CAPTURE(text);
        CHECK_FALSE(gpkg::parse_cuda_code(text));
    }
    CHECK(gpkg::split_targets(" 8.0;9.0a, gfx90a ") ==
          std::vector<std::string>{"8.0", "9.0a", "gfx90a"});
}

}  // namespace gpu_targets_test
