// Updates of real environments: what nobody asked to change in kind does not.

#include "solver/solver.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/corpus.hpp"
#include "tests/unit/solver/corpus_channel.hpp"
#include "tests/unit/solver/random_problems.hpp"

#include <algorithm>
#include <array>

using namespace gpkg;
using namespace gpkg::tests;

namespace updates_test {
namespace {

constexpr std::int64_t kMonth = std::int64_t{30} * 24 * 3600 * 1000;
constexpr std::int64_t kNewest = 1'780'000'000'000;  // May 2026

/// Told from the record alone, by other means than the solver's.
std::string vendor_of(const PackageRecord& record) {
    const auto has = [&](std::string_view part) {
        return record.build.find(part) != std::string::npos ||
               std::any_of(record.depends.begin(), record.depends.end(), [&](const auto& text) {
                   // A locator of libraries in Python, which needs no GPU.
                   if (text.starts_with("cuda-pathfinder")) return false;
                   return text.starts_with(part) || text.starts_with(std::string("__") += part);
               });
    };
    if (has("cuda") || has("cudnn") || has("nccl") || has("libcu")) return "nvidia";
    return has("rocm") || has("hip") ? "amd" : "";
}

/// "mkl" of "25_linux64_mkl", "nompi" of "nompi_h123_0".
std::string word_of(const PackageRecord& record) {
    for (const std::string_view word :
         {"openblas", "mkl", "blis", "netlib", "nompi", "openmpi", "mpich"}) {
        if (record.build.find(word) != std::string::npos) return std::string(word);
    }
    return "";
}

void add_virtual(Problem& problem, std::string name, std::string version) {
    PackageRecord record;
    record.name = std::move(name);
    record.version = std::move(version);
    record.build = "0";
    problem.virtual_packages.push_back(std::move(record));
}

void set_machine(Dice& dice, Problem& problem) {
    problem.virtual_packages.clear();
    for (const auto& [name, version] :
         {std::pair{"__unix", "0"}, {"__linux", "6.1"}, {"__glibc", "2.36"}})
        add_virtual(problem, name, version);
    if (dice.one_in(3)) return;
    add_virtual(problem, "__cuda", dice.one_in(2) ? "12.9" : "13.0");
    if (!dice.one_in(4)) add_virtual(problem, "__cuda_arch", "9.0");
}

void set_channels(Dice& dice, const fs::path& root, Problem& problem) {
    problem.indexes = corpus_channel(root, "conda-forge");
    if (dice.one_in(2)) {
        const auto more = corpus_channel(root, "pytorch");
        const auto place = dice.one_in(2) ? problem.indexes.begin() : problem.indexes.end();
        problem.indexes.insert(place, more.begin(), more.end());
    }
    problem.priority = std::array{ChannelPriority::Strict,
                                  ChannelPriority::Flexible,
                                  ChannelPriority::Disabled}[dice.roll(3)];
}

std::vector<MatchSpec> some_specs(Dice& dice) {
    static constexpr const char* kNames[] = {"pytorch",
                                             "jax",
                                             "tensorflow",
                                             "numpy",
                                             "hdf5",
                                             "h5py",
                                             "scipy",
                                             "xgboost",
                                             "torchvision",
                                             "libblas",
                                             "cupy",
                                             "lightgbm",
                                             "pyarrow",
                                             "mpi4py",
                                             "fftw",
                                             "netcdf4"};
    std::vector<MatchSpec> specs;
    for (auto left = 1 + dice.roll(4); left > 0; --left)
        specs.push_back(MatchSpec::parse(kNames[dice.roll(std::size(kNames))]).value());
    return specs;
}

}  // namespace

TEST_CASE("an update changes no accelerator, no channel and no BLAS or MPI", "[solver][corpus]") {
    const auto root = corpus();
    if (!root) {
        WARN("GPKG_TEST_CORPUS is not set: no updates are tried");
        return;
    }
    const auto count = static_cast<std::uint32_t>(200 * test_effort());
    std::uint32_t moved = 0;
    for (std::uint32_t seed = 0; seed < count; ++seed) {
        Dice dice(seed);
        Problem problem;
        set_machine(dice, problem);
        set_channels(dice, *root, problem);
        problem.request.specs = some_specs(dice);
        problem.request.accelerators.all = std::array{AcceleratorChoice::Auto,
                                                      AcceleratorChoice::None,
                                                      AcceleratorChoice::Conda}[dice.roll(3)];
        problem.exclude_newer = kNewest - kMonth * dice.roll(24);
        const auto first = solver::solve(problem);
        REQUIRE(first);
        const auto* before = std::get_if<Solution>(&*first);
        if (before == nullptr) continue;

        set_machine(dice, problem);
        set_channels(dice, *root, problem);
        problem.exclude_newer.reset();
        problem.request.accelerators.all = AcceleratorChoice::Auto;
        problem.request.installed = before->records;
        for (const auto& record : before->records) problem.request.keep.push_back(record.name);
        problem.request.update_all = dice.one_in(2);
        if (!problem.request.update_all) {
            for (const auto& spec : problem.request.specs)
                problem.request.update.push_back(spec.name);
            problem.request.specs.push_back(some_specs(dice).front());
        }
        const auto second = solver::solve(problem);
        REQUIRE(second);
        const auto* after = std::get_if<Solution>(&*second);
        if (after == nullptr) continue;
        for (const auto& record : after->records) {
            const auto old = std::find_if(before->records.begin(),
                                          before->records.end(),
                                          [&](const auto& one) { return one.name == record.name; });
            if (old == before->records.end()) continue;
            if (old->version != record.version || old->build != record.build) ++moved;
            INFO("seed " << seed << ": " << old->distribution() << " of " << old->channel << " to "
                         << record.distribution());
            CHECK(vendor_of(*old) == vendor_of(record));
            CHECK(old->channel == record.channel);
            if (!word_of(*old).empty() && !word_of(record).empty())
                CHECK(word_of(*old) == word_of(record));
        }
    }
    INFO("moved " << moved);
    CHECK(moved > 2 * count);
}

}  // namespace updates_test
