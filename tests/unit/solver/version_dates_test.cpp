#include "solver/version_dates.hpp"

#include "libcore/index/repodata.hpp"
#include "tests/support/catch.hpp"

#include <fmt/format.h>
#include <map>

using namespace gpkg;
using namespace gpkg::solver;

namespace version_dates_test {
namespace {

constexpr std::int64_t kDay = std::int64_t{24} * 60 * 60 * 1000;

/// "1.0" and the day on which it was built; 0: it has no timestamp.
using Built = std::vector<std::pair<std::string, int>>;

/// How many days older than the newest that `spec` allows each version is.
std::map<std::string, std::int64_t> days_of(const Built& built, const char* spec = "p") {
    std::string json;
    for (std::size_t i = 0; i < built.size(); ++i)
        json += fmt::format(
            R"({0}"p-{1}-{2}.conda":{{"name":"p","version":"{1}","build":"{2}","build_number":0,"depends":[],"timestamp":{3}}})",
            i == 0 ? "" : ",",
            built[i].first,
            i,
            built[i].second == 0 ? 0 : 1600000000000 + built[i].second * kDay);
    auto index =
        read_repodata("{\"packages.conda\":{" + json + "}}",
                      {"https://host/c", "linux-64", "https://host/c/linux-64/repodata.json"});
    REQUIRE(index);
    Problem problem;
    problem.indexes = {std::make_shared<const ChannelIndex>(*std::move(index))};
    problem.request.specs = {MatchSpec::parse(spec).value()};
    const auto universe = Universe::collect(problem).value();
    const auto id = universe.find_name("p").value();
    const auto ages = version_ages(universe, id);
    std::map<std::string, std::int64_t> days;
    const auto begin = universe.names()[id].begin;
    for (std::size_t i = 0; i < ages.size(); ++i) {
        const auto& one = universe.candidates()[begin + i];
        days[universe.version(one.version).to_string()] = ages[i] / kDay;
    }
    return days;
}

using Days = std::map<std::string, std::int64_t>;

}  // namespace

TEST_CASE("a version is as old as its first build or that of a newer one", "[solver]") {
    CHECK(days_of({{"3", 100}, {"2", 70}, {"1", 10}}) == Days{{"3", 0}, {"2", 30}, {"1", 90}});
    // A rebuild does not make it newer.
    CHECK(days_of({{"2", 100}, {"1", 10}, {"1", 99}}) == Days{{"2", 0}, {"1", 90}});
    // Nor is a late patch of an old line newer than the next line was then.
    CHECK(days_of({{"3", 100}, {"2.1", 150}, {"2", 70}}) == Days{{"3", 0}, {"2.1", 0}, {"2", 30}});
}

TEST_CASE("versions without timestamps are a month older each", "[solver]") {
    CHECK(days_of({{"3", 0}, {"2", 0}, {"1", 0}}) == Days{{"3", 0}, {"2", 30}, {"1", 60}});
    CHECK(days_of({{"3", 100}, {"2", 0}, {"1", 90}}) == Days{{"3", 0}, {"2", 30}, {"1", 30}});
    CHECK(days_of({{"3", 0}, {"2", 100}, {"1", 90}}) == Days{{"3", 0}, {"2", 30}, {"1", 40}});
}

TEST_CASE("pre-releases do not date releases", "[solver]") {
    CHECK(days_of({{"2", 100}, {"2rc1", 50}, {"1.1", 90}}) ==
          Days{{"2", 0}, {"2rc1", 10}, {"1.1", 10}});
    // A letter alone is no pre-release.
    CHECK(days_of({{"3", 100}, {"1.1.1w", 50}, {"1.1.1v", 40}}) ==
          Days{{"3", 0}, {"1.1.1w", 50}, {"1.1.1v", 60}});
}

TEST_CASE("what the request does not allow dates nothing", "[solver]") {
    const auto days = days_of({{"3", 10}, {"2", 100}, {"1", 90}}, "p<3");
    CHECK(days.at("2") == 0);
    CHECK(days.at("1") == 10);
}

}  // namespace version_dates_test
