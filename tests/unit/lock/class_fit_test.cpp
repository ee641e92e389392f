#include "libcore/lock/class_fit.hpp"

#include "tests/support/catch.hpp"

using namespace gpkg;
using Texts = std::vector<std::string>;

namespace {

PackageRecord machine_has(std::string name, std::string version, std::string build = "0") {
    PackageRecord made;
    made.name = std::move(name);
    made.version = std::move(version);
    made.build = std::move(build);
    return made;
}

PackageRecord record(std::string name, std::string build, Texts depends, Texts constrains = {}) {
    PackageRecord made;
    made.name = std::move(name);
    made.version = "1";
    made.build = std::move(build);
    made.depends = std::move(depends);
    made.constrains = std::move(constrains);
    made.url = "https://host/c/linux-64/" + made.distribution() + ".conda";
    return made;
}

void add(LockFile& lock, std::string name, Texts needs, const std::vector<PackageRecord>& records) {
    LockedClass locked;
    locked.name = std::move(name);
    locked.platform = "linux-64";
    locked.needs = std::move(needs);
    for (const auto& one : records) {
        locked.packages.push_back(lock.packages.size());
        lock.packages.push_back({one, {}});
    }
    lock.classes.push_back(std::move(locked));
}

/// pytorch for CPUs, for CUDA 12 and for CUDA 13, and one for AMD.
LockFile four_classes() {
    LockFile lock;
    add(lock, "cpu", {}, {record("pytorch", "cpu_0", {})});
    add(lock, "cuda12", {"__cuda >=12"}, {record("pytorch", "cuda12_0", {"__cuda >=12"})});
    add(lock, "cuda13", {"__cuda >=13"}, {record("pytorch", "cuda13_0", {"__cuda >=13"})});
    add(lock, "rocm", {"__amdgpu"}, {record("pytorch", "rocm_0", {"__amdgpu"})});
    return lock;
}

Texts order(const LockFile& lock, const std::vector<PackageRecord>& machine) {
    Texts names;
    for (const auto& fit : fits_of(lock, "linux-64", machine))
        names.push_back((fit.fits() ? "" : "not ") + fit.locked->name);
    return names;
}

}  // namespace

TEST_CASE("a machine takes the class with builds for its GPU that asks for the most", "[lock]") {
    const auto lock = four_classes();
    CHECK(order(lock, {machine_has("__cuda", "13.1"), machine_has("__cuda_arch", "9.0")}) ==
          Texts{"cuda13", "cuda12", "cpu", "not rocm"});
    CHECK(order(lock, {machine_has("__cuda", "12.4"), machine_has("__cuda_arch", "8.0")}).front() ==
          "cuda12");
    CHECK(order(lock, {machine_has("__amdgpu", "6")}).front() == "rocm");
    CHECK(order(lock, {}).front() == "cpu");
}

TEST_CASE("a machine with both vendors' GPUs takes either before none", "[lock]") {
    const auto found =
        order(four_classes(), {machine_has("__cuda", "12.8"), machine_has("__amdgpu", "6")});
    CHECK(found == Texts{"cuda12", "rocm", "cpu", "not cuda13"});
}

TEST_CASE("another platform's class does not fit, and says so", "[lock]") {
    const auto fits = fits_of(four_classes(), "osx-arm64", {});
    REQUIRE(fits.size() == 4);
    for (const auto& fit : fits) CHECK(fit.unmet == Texts{"it is for linux-64, not for osx-arm64"});
}

TEST_CASE("what a class restricts counts where the machine has it", "[lock]") {
    LockFile lock;
    add(lock, "new", {}, {record("cuda-version", "h1_0", {}, {"__cuda >=13"})});
    CHECK(order(lock, {machine_has("__cuda", "12.4")}) == Texts{"not new"});
    CHECK(order(lock, {machine_has("__cuda", "13.0")}) == Texts{"new"});
    CHECK(order(lock, {}) == Texts{"new"});
    // Who builds needs no driver, as when it was decided.
    lock.request.specs = {"cuda-nvcc"};
    CHECK(order(lock, {machine_has("__cuda", "12.4")}) == Texts{"new"});
}

TEST_CASE("the build for this CPU comes before the generic one", "[lock]") {
    LockFile lock;
    const auto level = [](const char* name) {
        return record("blas", std::string(name) + "_0", {std::string("__archspec 1 ") + name});
    };
    add(lock, "v1", {}, {record("blas", "h1_0", {})});
    add(lock, "v2", {"__archspec 1 x86_64_v2"}, {level("x86_64_v2")});
    const auto machine = machine_has("__archspec", "1", "x86_64_v2");
    CHECK(order(lock, {machine}) == Texts{"v2", "v1"});
    CHECK(order(lock, {machine_has("__archspec", "1", "x86_64")}) == Texts{"v1", "not v2"});
}
