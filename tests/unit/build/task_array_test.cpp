#include "libcore/build/cluster/task_array.hpp"

#include "tests/support/catch.hpp"

#include <algorithm>

using namespace gpkg;

namespace task_array_test {
namespace {

struct Folder {
    TemporaryFolder folder = TemporaryFolder::make(fs::temp_directory_path()).value();
    fs::path work() const { return folder.path() / "work"; }
    bool has(const std::string& name) const { return fs::exists(work() / name); }
};

TaskOrder order_of(const std::string& name) {
    TaskOrder order;
    order.recipes = {"/r/recipe.yaml"};
    order.builds = {{name, {{"the recipe", "1"}, {"the sources", "2"}}}};
    order.staged = {"/w/unpublished/linux-64/b-1-0.conda"};
    order.failed = {"b-1-0"};
    order.work = "/w";
    return order;
}

}  // namespace

TEST_CASE("What a task is told and answers, written and read", "[task-files]") {
    const Folder folder;
    const auto order = order_of("linux-64/a-1-0");
    REQUIRE(write_order(folder.work(), order));
    const auto read = read_order(folder.work());
    REQUIRE(read);
    CHECK(read->is_as(order));
    CHECK(read->recipes == order.recipes);
    CHECK(read->staged == order.staged);
    CHECK(read->failed == order.failed);
    CHECK(read->work == order.work);

    CHECK_FALSE(read_answer(folder.work()).value());
    TaskAnswer answer;
    answer.node = "n1";
    answer.warnings = {{"a-1-0", {"odd"}}};
    answer.failures = {{"a-1-1", {ErrorKind::Conflict, "message", "hint", {"outer"}, "{}"}}};
    REQUIRE(write_answer(folder.work(), answer));
    const auto said = read_answer(folder.work()).value();
    REQUIRE(said);
    CHECK(said->node == "n1");
    CHECK(said->warnings == answer.warnings);
    REQUIRE(said->failures.size() == 1);
    CHECK(said->failures[0].distribution == "a-1-1");
    CHECK(said->failures[0].error.kind == ErrorKind::Conflict);
    CHECK(said->failures[0].error.to_string() == answer.failures[0].error.to_string());
    CHECK_FALSE(said->is_success());

    REQUIRE(write_file_atomically(folder.work() / "answer.json", "{\"node\": 1}"));
    CHECK(read_answer(folder.work()).error().kind == ErrorKind::Parse);
}

TEST_CASE("Orders are the same when they make the same of the same", "[task-files]") {
    const auto order = order_of("linux-64/a-1-0");
    auto other = order;
    other.staged.clear();
    CHECK(order.is_as(other));
    other.builds.begin()->second["the sources"] = "3";
    CHECK_FALSE(order.is_as(other));
    CHECK(difference(order.builds.begin()->second, other.builds.begin()->second) == "the sources");
    CHECK(difference({{"a", "1"}}, {{"b", "1"}}) == "a, b");
    CHECK(difference({{"a", "1"}}, {{"a", "1"}}).empty());
}

TEST_CASE("An array is found again once its owner is gone, task by task", "[task-array]") {
    const Folder folder;
    {
        auto array =
            TaskArray::make(folder.work(), {order_of("linux-64/a-1-0"), order_of("noarch/b-1-0")});
        REQUIRE(array);
        REQUIRE(array->remember_job("17"));
        // It belongs to somebody.
        CHECK(TaskArray::left_in(folder.work()).value().empty());
    }
    auto left = TaskArray::left_in(folder.work());
    REQUIRE(left);
    REQUIRE(left->size() == 1);
    auto& array = left->front();
    CHECK(array.job() == "17");
    CHECK(array.open() == std::vector<std::size_t>{0, 1});
    CHECK(read_order(array.task(1))->builds.contains("noarch/b-1-0"));

    for (const auto* name : {"unpublished/linux-64/a.conda",
                             "built/linux-64/a.conda",
                             "logs/a.log",
                             "failed/linux-64/c.conda",
                             "runs/.door"})
        REQUIRE(write_file_atomically(array.task(0) / name, name));
    REQUIRE(array.gather(0, folder.work()));
    CHECK(folder.has("unpublished/linux-64/a.conda"));
    CHECK(folder.has("built/linux-64/a.conda"));
    CHECK(folder.has("logs/a.log"));
    CHECK(folder.has("failed/linux-64/c.conda"));
    CHECK_FALSE(folder.has("runs"));
    CHECK(array.open() == std::vector<std::size_t>{1});
    REQUIRE(array.forget(1));
    CHECK(fs::is_empty(folder.work() / "slurm"));
}

TEST_CASE("What was never whole goes; what a living process makes stays", "[task-array]") {
    const Folder folder;
    const auto root = folder.work() / "slurm";
    REQUIRE(write_file_atomically(root / ".11111111/owner", ""));
    REQUIRE(write_file_atomically(root / "22222222/owner", ""));
    REQUIRE(make_folders(root / ".33333333"));  // its lock comes next
    CHECK(TaskArray::left_in(folder.work()).value().empty());
    CHECK_FALSE(folder.has("slurm/.11111111"));
    CHECK_FALSE(folder.has("slurm/22222222"));
    CHECK(folder.has("slurm/.33333333"));
}

}  // namespace task_array_test
