#include "libcore/index/queries.hpp"

#include "libcore/index/repodata.hpp"
#include "tests/support/catch.hpp"

#include <fmt/format.h>

using namespace gpkg;

namespace queries_test {
namespace {

const IndexSource kSource{"https://host/c", "linux-64", "https://host/c/linux-64/repodata.json"};

constexpr std::string_view kRepodata = R"({"packages.conda": {
    "py-3.9-a_0.conda": {"name": "py", "version": "3.9", "build": "a_0", "timestamp": 1500000000000},
    "py-3.12-a_0.conda": {"name": "py", "version": "3.12", "build": "a_0", "timestamp": 1700000000000},
    "py-3.12-b_0.conda": {"name": "py", "version": "3.12", "build": "b_0", "timestamp": 1700000001000},
    "old-1-0.conda": {"name": "old", "version": "1", "build": "0", "depends": ["py >=3.8,<3.10", "__cuda >=12"]},
    "new-1-0.conda": {"name": "new", "version": "1", "build": "0", "depends": ["py <3.11"]},
    "new-2-0.conda": {"name": "new", "version": "2", "build": "0", "depends": ["gone >=1", "py 3.12.* b_*"]},
    "any-1-0.conda": {"name": "any", "version": "1", "build": "0", "depends": ["p*"]},
    "odd-1-0.conda": {"name": "odd", "version": "1", "build": "0", "depends": ["py >=3,,", "Odd name!"]},
    "con-1-0.conda": {"name": "con", "version": "1", "build": "0", "constrains": ["py <3.11"]}},
  "v3": {"conda": {
    "ext-1-0": {"name": "ext", "version": "1", "build": "0", "depends": ["lib[when=\"py>=3\"]"],
        "extra_depends": {"t": ["new", "py >=3.10"]}}}}})";

std::string all_of(const ChannelIndex& index, const SpecMarks& marks) {
    std::string all;
    const auto all_found = dependents(index, marks, std::nullopt).value();
    for (const auto& found : all_found) {
        for (const auto* row : found.rows) {
            all += fmt::format("{} {}:", found.of.name(), found.of.version(*row));
            const auto reasons = marked_specs(index, found.of, *row, marks).value();
            for (const auto& [spec, extra] : reasons)
                all += fmt::format(" {}{}{}", spec, extra.empty() ? "" : " of ", extra);
            all += "\n";
        }
    }
    return all;
}

}  // namespace

TEST_CASE("records that a spec matches, best first", "[index]") {
    const auto index = read_repodata(std::string(kRepodata), kSource);
    REQUIRE(index);
    const auto matches = [&](const char* text, std::optional<std::int64_t> newest = std::nullopt) {
        std::string all;
        const auto spec = MatchSpec::parse(text).value();
        REQUIRE(each_match(*index, spec.name, spec, newest, [&](const PackageRecord& record) {
            all += record.version + "-" + record.build + " ";
            return true;
        }));
        return all;
    };
    CHECK(matches("py") == "3.12-b_0 3.12-a_0 3.9-a_0 ");
    CHECK(matches("py >=3.10") == "3.12-b_0 3.12-a_0 ");
    CHECK(matches("py * a_0") == "3.12-a_0 3.9-a_0 ");
    CHECK(matches("py[subdir=noarch]").empty());
    CHECK(matches("py", 1600000000000) == "3.9-a_0 ");
    CHECK(matches("gone").empty());

    int taken = 0;
    const auto any = MatchSpec::parse("py").value();
    REQUIRE(each_match(*index, "py", any, std::nullopt, [&](const auto&) { return ++taken < 2; }));
    CHECK(taken == 2);
}

TEST_CASE("who depends on a name, or on what a spec matches", "[index]") {
    const auto index = read_repodata(std::string(kRepodata), kSource);
    REQUIRE(index);
    const auto naming = [&](std::string_view name) {
        SpecMarks marks(index->spec_count());
        REQUIRE(mark_specs_on(*index, name, marks));
        return all_of(*index, marks);
    };
    // Neither a condition nor a constraint is a dependency; a spec beyond reading names it still.
    CHECK(naming("py") ==
          "any 1: p*\next 1: py >=3.10 of t\nnew 2: py 3.12.* b_*\nnew 1: py <3.11\n"
          "odd 1: py >=3,,\nold 1: py >=3.8,<3.10\n");
    CHECK(naming("gone") == "new 2: gone >=1\n");
    CHECK(naming("__cuda") == "old 1: __cuda >=12\n");
    CHECK(naming("lib") == "ext 1: lib[when=\"py>=3\"]\n");
    CHECK(naming("old").empty());

    const auto met_by = [&](const char* text) {
        const auto spec = MatchSpec::parse(text).value();
        std::vector<PackageRecord> records;
        REQUIRE(each_match(*index, spec.name, spec, std::nullopt, [&](PackageRecord record) {
            records.push_back(std::move(record));
            return true;
        }));
        const Providers providers(std::move(records));
        SpecMarks marks(index->spec_count());
        const auto is_met = [&](const MatchSpec& one) { return providers.meet(one); };
        REQUIRE(mark_specs_on(*index, spec.name, is_met, marks));
        return all_of(*index, marks);
    };
    CHECK(met_by("py=3.9") == "any 1: p*\nnew 1: py <3.11\nold 1: py >=3.8,<3.10\n");
    CHECK(met_by("py=3.12=a_0") == "any 1: p*\next 1: py >=3.10 of t\n");
    CHECK(met_by("py=3.12") == "any 1: p*\next 1: py >=3.10 of t\nnew 2: py 3.12.* b_*\n");
    CHECK(met_by("py=4").empty());
}

TEST_CASE("names and the specs on them", "[index]") {
    const auto index = read_repodata(std::string(kRepodata), kSource);
    REQUIRE(index);
    CHECK(index->mentioned_names() ==
          std::vector<std::string_view>{
              "__cuda", "any", "con", "ext", "gone", "lib", "new", "odd", "old", "py"});
    std::size_t all = 0;
    for (const auto name : index->mentioned_names()) {
        const auto [first, end] = index->specs_on(name);
        all += end - first;
    }
    const auto [first, end] = index->specs_on("");
    CHECK(end - first == 2);  // "p*" and "Odd name!"
    CHECK(all + 2 == index->spec_count());
    CHECK(index->specs_on("nobody") == std::pair<std::uint32_t, std::uint32_t>{0, 0});
    const auto [py, py_end] = index->specs_on("py");
    CHECK(py_end == index->spec_count());
    CHECK(index->spec(py).value() == "py 3.12.* b_*");
}

}  // namespace queries_test
