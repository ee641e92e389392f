#include "libcore/solve/machine_needs.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/machine_has.hpp"

#include <string>

using namespace gpkg;
using gpkg::tests::machine_has;

namespace machine_needs_test {
namespace {

/// "newer 12.0", "older", "newer older 14.0"
std::string taken(std::string_view spec, const char* version) {
    const auto need = MatchSpec::parse(spec).value();
    const auto there = machine_has(need.name, version);
    const auto values = values_taken({need, &there});
    return std::string(values.newer ? "newer " : "") + (values.older ? "older " : "") +
           values.example;
}

bool helps(const char* spec, const char* cuda, const char* device) {
    const std::vector machine{machine_has("__cuda", cuda), machine_has("__cuda_arch", device)};
    return newer_driver_helps({MatchSpec::parse(spec).value(), machine.data()}, machine);
}

}  // namespace

TEST_CASE("a spec tells on which side of a value those lie that it takes", "[solver]") {
    CHECK(taken("__cuda >=12,<13", "11.8") == "newer 12.0");
    CHECK(taken("__cuda >=12,<13", "13.0") == "older ");
    CHECK(taken("__glibc >=2.34", "2.28") == "newer 2.34");
    CHECK(taken("__glibc <2.28", "2.28") == "older ");
    CHECK(taken("__glibc >2.28", "2.28") == "newer ");
    CHECK(taken("__cuda <12|>=14", "13.0") == "newer older 14.0");
    CHECK(taken("__cuda !=12.4", "12.4") == "newer older ");
    CHECK(taken("__cuda 12.4.*", "12.2") == "newer 12.4");
    CHECK(taken("__cuda 12.4.*", "12.9") == "older ");
    CHECK(taken("__archspec * x86_64_v4", "1") == "x86_64_v4");
    // What is missing is newer than nothing.
    const auto rocm = MatchSpec::parse("__rocm >=6.2,<7").value();
    CHECK(values_taken({rocm, nullptr}).example == "6.2");
}

TEST_CASE("a newer driver helps where the GPUs have one", "[solver]") {
    CHECK(helps("__cuda >=12,<13", "11.8", "8.0"));
    CHECK_FALSE(helps("__cuda >=12,<13", "13.0", "8.0"));
    CHECK(helps("__cuda >=12.8", "11.4", "7.0"));
    CHECK_FALSE(helps("__cuda >=12", "11.4", "3.7"));
    CHECK_FALSE(helps("__cuda >=13.1", "13.0", "7.0"));
    CHECK_FALSE(helps("__glibc >=2.34", "12.4", "8.0"));
}

}  // namespace machine_needs_test
