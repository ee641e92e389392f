#include "libcore/classes/class_fit.hpp"

#include "libcore/classes/class_words.hpp"
#include "libcore/spec/record_version.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/machine_has.hpp"

using namespace gpkg;
using gpkg::tests::machine_has;
using Texts = std::vector<std::string>;

namespace class_fit_test {
namespace {

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

TEST_CASE("a machine takes the class with builds for its GPU that asks for the most", "[classes]") {
    const auto lock = four_classes();
    CHECK(order(lock, {machine_has("__cuda", "13.1"), machine_has("__cuda_arch", "9.0")}) ==
          Texts{"cuda13", "cuda12", "cpu", "not rocm"});
    CHECK(order(lock, {machine_has("__cuda", "12.4"), machine_has("__cuda_arch", "8.0")}).front() ==
          "cuda12");
    CHECK(order(lock, {machine_has("__amdgpu", "6")}).front() == "rocm");
    CHECK(order(lock, {}).front() == "cpu");
}

TEST_CASE("a class whose builds say that they will not run stands behind others", "[classes]") {
    LockFile lock;
    add(lock, "cpu", {}, {record("pytorch", "cpu_0", {})});
    // As the builds of old channels, which ask for no driver.
    add(lock, "cuda", {}, {record("pytorch", "cuda12.4_0", {"pytorch-cuda 12.4.*"})});
    const auto on = [&](const char* driver, const char* device) {
        return order(lock, {machine_has("__cuda", driver), machine_has("__cuda_arch", device)});
    };
    CHECK(on("12.0", "8.0") == Texts{"cuda", "cpu"});
    CHECK(on("11.4", "8.0") == Texts{"cpu", "cuda"});
    CHECK(on("12.4", "3.7") == Texts{"cpu", "cuda"});  // for which CUDA 12 makes no code
}

TEST_CASE("what does not run on a machine is told of a class that it takes all the same",
          "[classes]") {
    LockFile lock;
    add(lock, "cuda", {}, {record("cupy", "py_0", {"__cuda", "cuda-version >=13,<14"})});
    const auto fits_on = [&](const char* driver, const char* device) {
        return fits_of(
            lock, "linux-64", {machine_has("__cuda", driver), machine_has("__cuda_arch", device)});
    };
    const auto runs = fits_on("13.0", "9.0");
    CHECK(runs.front().runs());
    CHECK(standing_of(runs.front(), runs) == "selected: it fits the machine");
    CHECK(notes_on_first(runs, "this machine").empty());
    const auto not_here = fits_on("13.0", "6.0");
    const std::string why =
        "cupy 1 needs cuda-version >=13,<14, which does not support compute capability 6.0";
    CHECK(not_here.front().fits());
    CHECK(not_here.front().will_not_run == Texts{why});
    CHECK(standing_of(not_here.front(), not_here) ==
          "selected: it fits the machine; it does not run here: " + why);
    CHECK(notes_on_first(not_here, "this machine") ==
          Texts{"cuda does not run on this machine: " + why});
    CHECK(fits_on("11.4", "9.0").front().will_not_run ==
          Texts{"cupy 1 needs cuda-version >=13,<14, but the driver supports CUDA 11.4"});
    // Of one that is not taken as well.
    add(lock, "cpu", {}, {record("cupy", "cpu_0", {})});
    const auto both = fits_on("11.4", "9.0");
    CHECK(both[0].locked->name == "cpu");
    CHECK_THAT(standing_of(both[1], both),
               Catch::Matchers::StartsWith(
                   "fits, but does not run here: cupy 1 needs cuda-version >=13,<14"));
}

TEST_CASE("what has code for GPUs of either vendor runs or does not as well", "[classes]") {
    LockFile lock;
    add(lock,
        "only",
        {},
        {record("openmm",
                "py_0",
                {"cuda-nvrtc", "cuda-version >=13,<14", "rocm-core >=7.2.1,<7.3.0a0"})});
    const auto on = [&](const char* device) {
        return fits_of(
            lock, "linux-64", {machine_has("__cuda", "13.0"), machine_has("__cuda_arch", device)});
    };
    CHECK(on("7.5").front().runs());
    CHECK_FALSE(on("7.0").front().runs());
    CHECK(fits_of(lock, "linux-64", {}).front().runs());
    CHECK(on("7.5").front().builds == GpuBuilds::None);
}

TEST_CASE("a machine with both vendors' GPUs takes either before none", "[classes]") {
    const auto found =
        order(four_classes(), {machine_has("__cuda", "12.8"), machine_has("__amdgpu", "6")});
    CHECK(found == Texts{"cuda12", "rocm", "cpu", "not cuda13"});
}

TEST_CASE("which vendor's GPU counts is not for a lock to choose", "[classes]") {
    auto lock = four_classes();
    const auto other = [&](const std::vector<PackageRecord>& machine) {
        const auto fits = fits_of(lock, "linux-64", machine);
        const auto* found = other_vendors(fits);
        return found == nullptr ? "" : found->locked->name;
    };
    CHECK(other({machine_has("__cuda", "12.8"), machine_has("__amdgpu", "6")}) == "rocm");
    CHECK(other({machine_has("__cuda", "12.8")}).empty());
    CHECK(other({}).empty());
    lock.request.wishes.accelerator = "nvidia";
    CHECK(other({machine_has("__cuda", "12.8"), machine_has("__amdgpu", "6")}).empty());
}

TEST_CASE("of several accelerators the first that counts on the machine is meant", "[classes]") {
    auto lock = four_classes();
    lock.classes[0].made_for = {{"__archspec", "1", "x86_64_v3"}};
    // Builds for GPUs that need no driver, as those of old channels do not.
    lock.classes[1].needs.clear();
    lock.packages[lock.classes[1].packages.front()].record.depends.clear();
    const std::vector<PackageRecord> gpu{machine_has("__archspec", "1", "zen4"),
                                         machine_has("__cuda", "12.8"),
                                         machine_has("__cuda_arch", "9.0")};
    const std::vector<PackageRecord> none{machine_has("__archspec", "1", "zen4")};
    std::vector<PackageRecord> both = gpu;
    both.push_back(machine_has("__amdgpu", "0"));
    both.push_back(machine_has("__amdgpu_arch", "9.4.2"));
    struct Row {
        const char* accelerator;
        const char* on_gpu;
        const char* on_none;
        const char* on_both;
    };
    for (const auto& row : std::vector<Row>{{"nvidia,none", "cuda12", "cpu", "cuda12"},
                                            {"amd,nvidia,none", "cuda12", "cpu", "rocm"},
                                            {"nvidia,amd", "cuda12", "cuda12", "cuda12"},
                                            {"nvidia", "cuda12", "cuda12", "cuda12"},
                                            {"auto,none", "cuda12", "cpu", "rocm"},
                                            {"none pytorch=nvidia", "cuda12", "cuda12", "cuda12"},
                                            {"nvidia pytorch=none", "cpu", "cpu", "cpu"},
                                            {"", "cuda12", "cpu", "rocm"}}) {
        CAPTURE(row.accelerator);
        lock.request.wishes.accelerator = row.accelerator;
        CHECK(order(lock, gpu).front() == row.on_gpu);
        CHECK(order(lock, none).front() == row.on_none);
        CHECK(order(lock, both).front() == row.on_both);
    }
    lock.request.wishes.accelerator = "amd,nvidia,none";
    const auto fits = fits_of(lock, "linux-64", both);
    CHECK(other_vendors(fits) == nullptr);
    CHECK(advantage_of_first(fits) == "has builds for a GPU requested before that of cuda12");
}

TEST_CASE("what is said of a class' builds is true of the machine", "[classes]") {
    auto lock = four_classes();
    const auto advantage = [&](const std::vector<PackageRecord>& machine) {
        return advantage_of_first(fits_of(lock, "linux-64", machine));
    };
    const auto driver = machine_has("__cuda", "12.8");
    lock.classes.pop_back();
    lock.classes.erase(lock.classes.begin() + 2);  // cpu and cuda12 are left
    CHECK(advantage({driver, machine_has("__cuda_arch", "9.0")}) == "has builds for this GPU");
    CHECK(advantage({driver}) == "has builds for this GPU driver");
    lock.request.wishes.accelerator = "none";
    CHECK(advantage({driver}) == "has no builds for a GPU that was not requested");
    lock.classes.back().needs.clear();
    CHECK(advantage({}) == "has no builds for an absent GPU");
    lock.request.wishes.accelerator = "nvidia";
    CHECK(advantage({}) == "has builds for the requested GPU");
}

TEST_CASE("the class that was decided for the most of a machine goes first", "[classes]") {
    LockFile lock;
    // A compiler, which any driver will do for, as it was decided without and with one.
    add(lock, "a", {}, {record("cuda-nvcc", "h1_0", {})});
    add(lock, "b", {}, {record("cuda-nvcc", "h2_0", {})});
    add(lock, "c", {}, {record("cuda-nvcc", "h3_0", {})});
    lock.classes[0].made_for = {{"__archspec", "1", "x86_64"}};
    lock.classes[1].made_for = {{"__archspec", "1", "x86_64_v3"}, {"__cuda", "12.0", "0"}};
    lock.classes[2].made_for = {{"__archspec", "1", "x86_64"}, {"__cuda", "13.0", "0"}};
    const auto cpu = [](const char* name) { return machine_has("__archspec", "1", name); };
    CHECK(order(lock, {cpu("zen4"), machine_has("__cuda", "12.8")}) == Texts{"b", "a", "c"});
    CHECK(order(lock, {cpu("zen4")}).front() == "a");
    CHECK(order(lock, {cpu("core2"), machine_has("__cuda", "any")}) == Texts{"c", "a", "b"});
    // Never a class without builds for the GPU for that: its driver is older than that of the
    // lock's.
    LockFile builds = four_classes();
    builds.classes[0].made_for = {{"__archspec", "1", "x86_64"}};
    builds.classes[1].made_for = {{"__archspec", "1", "x86_64"}, {"__cuda", "12.8", "0"}};
    CHECK(order(builds, {cpu("zen4"), machine_has("__cuda", "12.4")}).front() == "cuda12");
    // A kernel that nothing asks for makes no difference; one that something asks for does.
    LockFile kernels;
    add(kernels, "new", {}, {record("gpulib", "sm90_0", {})});
    add(kernels, "old", {}, {record("gpulib", "sm70_0", {})});
    kernels.classes[0].made_for = {{"__linux", "6.8", "0"}, {"__cuda_arch", "9.0", "0"}};
    kernels.classes[1].made_for = {{"__linux", "5.14", "0"}, {"__cuda_arch", "7.0", "0"}};
    const std::vector<PackageRecord> node{machine_has("__linux", "6.1"),
                                          machine_has("__cuda_arch", "9.0")};
    CHECK(order(kernels, node).front() == "new");
    kernels.classes[0].needs = {"__linux >=6.0"};
    CHECK(order(kernels, node).front() == "old");
    // What was decided without a GPU may have builds for one, where there are no others so new.
    LockFile newer;
    add(newer, "old", {}, {record("faiss", "cpu_0", {})});
    add(newer, "new", {}, {record("faiss", "cuda126_0", {})});
    newer.classes[0].made_for = {{"__archspec", "1", "x86_64_v4"}};
    newer.classes[1].made_for = {{"__archspec", "1", "x86_64"}};
    CHECK(order(newer, {cpu("x86_64")}).front() == "new");
}

TEST_CASE("an assumed value does not decide against a class made for such a machine", "[classes]") {
    LockFile lock;
    add(lock, "a100", {"__glibc >=2.36"}, {record("torch", "cuda12_0", {"__cuda"})});
    add(lock, "h100", {"__glibc >=2.36"}, {record("torch", "cuda12_0", {"__cuda"})});
    for (auto& locked : lock.classes)
        locked.made_for = {{"__cuda", "12.8", "0"}, {"__glibc", "2.36", "0"}};
    lock.classes[0].made_for.push_back({"__cuda_arch", "8.0", "0"});
    lock.classes[1].made_for.push_back({"__cuda_arch", "9.0", "0"});
    auto glibc = machine_has("__glibc", "2.28");
    const auto machine = [&](const char* arch) {
        return std::vector{machine_has("__cuda", "12.8"), machine_has("__cuda_arch", arch), glibc};
    };
    CHECK(order(lock, machine("9.0")) == Texts{"not a100", "not h100"});
    glibc.flags.emplace_back(kAssumedFlag);
    CHECK(order(lock, machine("9.0")) == Texts{"h100", "a100"});
    CHECK(order(lock, machine("8.0")) == Texts{"a100", "not h100"});
    CHECK(order(lock, machine("7.0")) == Texts{"not a100", "not h100"});
    const auto fits = fits_of(lock, "linux-64", machine("8.0"));
    CHECK(fits[0].unknown == Texts{"needs __glibc >=2.36 (2.28 is assumed)"});
    CHECK(fits[1].unmet == Texts{"needs __glibc >=2.36 (2.28 is assumed)"});
    CHECK(notes_on_first(fits, "a100") == Texts{"a100 needs __glibc >=2.36 (2.28 is assumed)"});
    // A class that was made for the assumed value comes first.
    add(lock, "old", {}, {record("torch", "cuda12_0", {"__cuda"})});
    lock.classes[2].made_for = {
        {"__cuda", "12.8", "0"}, {"__cuda_arch", "8.0", "0"}, {"__glibc", "2.28", "0"}};
    CHECK(order(lock, machine("8.0")).front() == "old");
}

TEST_CASE("another platform's class does not fit, and says so", "[classes]") {
    const auto fits = fits_of(four_classes(), "osx-arm64", {});
    REQUIRE(fits.size() == 4);
    for (const auto& fit : fits) CHECK(fit.unmet == Texts{"is for linux-64, not osx-arm64"});
}

TEST_CASE("what a class restricts counts where the machine has it", "[classes]") {
    LockFile lock;
    add(lock, "new", {}, {record("cuda-version", "h1_0", {}, {"__cuda >=13"})});
    CHECK(order(lock, {machine_has("__cuda", "12.4")}) == Texts{"not new"});
    CHECK(order(lock, {machine_has("__cuda", "13.0")}) == Texts{"new"});
    CHECK(order(lock, {}) == Texts{"new"});
    // Other tools look at dependencies alone.
    lock.tool = LockTool::Pixi;
    CHECK(order(lock, {machine_has("__cuda", "12.4")}) == Texts{"new"});
    const auto fits = fits_of(lock, "linux-64", {machine_has("__cuda", "12.4")});
    CHECK(fits.front().will_not_run ==
          Texts{"cuda-version 1 allows only __cuda >=13 (found 12.4)"});
    CHECK(fits_of(lock, "linux-64", {machine_has("__cuda", "13.0")}).front().runs());
    lock.tool = LockTool::Gpkg;
    // Who builds needs no driver, as when it was decided.
    lock.request.wishes.specs = {"cuda-nvcc"};
    CHECK(order(lock, {machine_has("__cuda", "12.4")}) == Texts{"new"});
}

TEST_CASE("of each virtual package one need is told, the tightest", "[classes]") {
    LockFile lock;
    add(lock,
        "new",
        {"__cuda >=12.6"},
        {record("faiss", "cuda126_0", {"__cuda >=12.6", "__cuda"}),
         record("jaxlib", "cuda12_0", {"__cuda >=12"}),
         record("cuda-version", "h1_0", {}, {"__cuda >=12.0"})});
    const auto fits = fits_of(lock, "linux-64", {machine_has("__cuda", "11.4")});
    CHECK(fits.front().unmet == Texts{"needs __cuda >=12.6 (found 11.4)"});
}

TEST_CASE("the build for this CPU comes before the generic one", "[classes]") {
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

}  // namespace class_fit_test
