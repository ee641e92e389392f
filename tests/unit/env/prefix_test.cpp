#include "libcore/env/prefix.hpp"

#include "tests/support/catch.hpp"

using namespace gpkg;

TEST_CASE("a folder with conda-meta/history is an environment", "[env]") {
    const auto root = TemporaryFolder::make(fs::temp_directory_path()).value();
    const auto& path = root.path();
    const auto none = Prefix::open(path);
    REQUIRE_FALSE(none);
    CHECK(none.error().kind == ErrorKind::NoEnvironment);
    CHECK(none.error().message ==
          "no environment at " + path.native() + " (conda-meta/history is missing)");
    REQUIRE(write_file_atomically(path / "conda-meta/history", ""));
    const auto prefix = Prefix::open(path);
    REQUIRE(prefix);
    CHECK(prefix->records().value().empty());
    CHECK(prefix->history().value().empty());
    CHECK(prefix->pinned_specs().value().empty());
    CHECK(prefix->env_vars().value().empty());
    CHECK(prefix->state().value() == GpkgState{});
    CHECK(check_not_frozen(path));
    REQUIRE(write_file_atomically(path / "conda-meta/Frozen", ""));
    CHECK(check_not_frozen(path));
}

TEST_CASE("pins, variables and state are read", "[env]") {
    const auto root = TemporaryFolder::make(fs::temp_directory_path()).value();
    const auto meta = root.path() / "conda-meta";
    REQUIRE(write_file_atomically(meta / "history", ""));
    REQUIRE(
        write_file_atomically(meta / "pinned", "# comment\n\n numpy <2 # why\npython 3.12.*\n"));
    REQUIRE(write_file_atomically(meta / "state", R"({"env_vars":{"A":"1"},"other":[1,2]})"));
    REQUIRE(write_file_atomically(meta / "gpkg/state.json",
                                  R"({"accelerator":"nvidia","later":{"x":1}})"));
    const auto prefix = Prefix::open(root.path()).value();
    CHECK(prefix.pinned_specs().value() == std::vector<std::string>{"numpy <2", "python 3.12.*"});
    CHECK(prefix.env_vars().value() == std::map<std::string, std::string>{{"A", "1"}});
    REQUIRE(
        write_file_atomically(meta / "state", with_env_vars(root.path(), {{"B", "2"}}).value()));
    CHECK(prefix.env_vars().value() == std::map<std::string, std::string>{{"A", "1"}, {"B", "2"}});
    CHECK_THAT(read_file(meta / "state").value(), ContainsSubstring("\"other\""));
    REQUIRE(change_env_vars(root.path(), {{"A", std::nullopt}, {"B", "3"}, {"C", std::nullopt}}));
    CHECK(prefix.env_vars().value() == std::map<std::string, std::string>{{"B", "3"}});
    CHECK_THAT(read_file(meta / "state").value(), ContainsSubstring("\"other\""));
    REQUIRE(change_env_vars(root.path(), {{"B", std::string(kUnsetVariable)}}));
    CHECK(prefix.env_vars().value().empty());

    auto state = prefix.state().value();
    CHECK(state.accelerator == "nvidia");
    state.package_accelerators["tensorflow"] = "none";
    state.accelerator_asked = {"nvidia", "none"};
    REQUIRE(prefix.write_state(state));
    CHECK(prefix.state().value() == state);
    CHECK_THAT(read_file(meta / "gpkg/state.json").value(), ContainsSubstring("\"later\""));

    REQUIRE(write_file_atomically(meta / "state", "{"));
    CHECK_THAT(prefix.env_vars().error().message, ContainsSubstring("state: not valid JSON"));
}

TEST_CASE("a state that makes no sense is not read", "[env]") {
    const auto bad = GENERATE(R"({"accelerator": ["nvidia"]})",
                              R"({"accelerator": "bogus"})",
                              R"({"accelerator": "nvidia,none"})",
                              R"({"accelerator_asked": "nvidia"})",
                              R"({"accelerator_asked": ["nvidia", 1]})",
                              R"({"package_accelerators": {"torch": "cuda"}})",
                              R"({"package_accelerators": ["torch"]})");
    INFO(bad);
    const auto state = GpkgState::parse(bad, "state.json");
    REQUIRE(!state);
    CHECK(state.error().kind == ErrorKind::Parse);
    CHECK_THAT(state.error().message, ContainsSubstring("state.json: "));
}

TEST_CASE("records are found by name, and a damaged one is named", "[env]") {
    const auto root = TemporaryFolder::make(fs::temp_directory_path()).value();
    const auto meta = root.path() / "conda-meta";
    REQUIRE(write_file_atomically(meta / "history", ""));
    REQUIRE(
        write_file_atomically(meta / "b-1-0.json", R"({"name":"b","version":"1","build":"0"})"));
    REQUIRE(write_file_atomically(meta / "a-x-1-0.json",
                                  R"({"name":"a-x","version":"1","build":"0"})"));
    const auto prefix = Prefix::open(root.path()).value();
    const auto records = prefix.records().value();
    REQUIRE(records.size() == 2);
    CHECK(records[0].name() == "a-x");
    CHECK(find_record(records, "b") == &records[1]);
    CHECK(find_record(records, "c") == nullptr);
    REQUIRE(write_file_atomically(meta / "c-1-0.json", "{"));
    CHECK_THAT(prefix.records().error().message,
               ContainsSubstring((meta / "c-1-0.json").native() + ": not valid JSON"));
}
