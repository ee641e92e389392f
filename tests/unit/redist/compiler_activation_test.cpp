// What activating the compiler sets, by the shell that runs it.

#include "libcore/redist/compiler_activation.hpp"

#include "libcore/process/process.hpp"
#include "tests/support/catch.hpp"

#include <cstdlib>

namespace compiler_activation_test {
namespace {

using Variables = std::map<std::string, std::string>;

/// What `script` says, run after the activation with these variables and no others.
std::string said(Variables variables, const std::string& script) {
    variables["PATH"] = std::getenv("PATH");
    gpkg::ProcessCommand command;
    command.arguments = {"sh", "-uc", gpkg::compiler_activation("targets/x86_64-linux") + script};
    command.environment = std::move(variables);
    const auto output = gpkg::run_and_capture(command);
    REQUIRE(output);
    CHECK(output->exit_code == 0);
    return output->output;
}

std::string architectures(const std::string& list) {
    return said(
        {{"CONDA_BUILD", "1"}, {"PREFIX", "/h"}, {"BUILD_PREFIX", "/b"}, {"cuda_arch_list", list}},
        "printf %s \"$CUDAARCHS\"");
}

}  // namespace

TEST_CASE("a variant's devices as CMake writes them", "[redist]") {
    // CMake, CUDA_ARCHITECTURES: 80 is machine code and PTX, 80-real the first, 80-virtual the
    // other.
    CHECK(architectures("8.0") == "80-real");
    CHECK(architectures("8.0;9.0a;12.0+PTX") == "80-real;90a-real;120");
    CHECK(architectures("7.5, 8.6 10.0f") == "75-real;86-real;100f-real");
    CHECK(architectures("80;90-real;90-virtual") == "80;90-real;90-virtual");
    CHECK(architectures("8.0-real;9.0-virtual") == "80-real;90-virtual");
    CHECK(architectures("sm_80;compute_90a") == "80-real;90a-virtual");
    CHECK(architectures("80+PTX") == "80");
}

TEST_CASE("what the user has set goes first, and stays", "[redist]") {
    CHECK(said({{"CONDA_PREFIX", "/e"}, {"CUDAARCHS", "native"}, {"LDFLAGS", "-O1"}},
               "printf '%s' \"$CUDAARCHS|$LDFLAGS\"") ==
          "native|-O1 -L/e/targets/x86_64-linux/lib -L/e/targets/x86_64-linux/lib/stubs");
    CHECK(said({{"CONDA_PREFIX", "/e"}, {"CXX", "g++"}}, "printf %s \"$NVCC_PREPEND_FLAGS\"") ==
          "-ccbin=g++");
    CHECK(said({{"CONDA_PREFIX", "/e"}}, "printf %s \"${NVCC_PREPEND_FLAGS-unset}\"") == "unset");
    // In a build the host's files come before those of the compiler's own environment.
    CHECK(said({{"CONDA_BUILD", "1"}, {"PREFIX", "/h"}, {"BUILD_PREFIX", "/b"}},
               "printf %s \"$CMAKE_PREFIX_PATH\"") ==
          "/h/targets/x86_64-linux:/b/targets/x86_64-linux");
}

TEST_CASE("deactivating leaves no trace", "[redist]") {
    const auto script = "\n" + gpkg::compiler_deactivation() +
                        "set | grep -v PWD= | grep -i -e gpkg -e targets -e -O1";
    CHECK(said({{"CONDA_PREFIX", "/e"}, {"CFLAGS", "-O1 '$x \\ y'"}}, script) ==
          "CFLAGS='-O1 '\"'\"'$x \\ y'\"'\"\n");
}

}  // namespace compiler_activation_test
