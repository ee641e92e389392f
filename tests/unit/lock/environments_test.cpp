#include "libcore/lock/environments.hpp"

#include "tests/support/catch.hpp"

#include <set>

using namespace gpkg;
using Texts = std::vector<std::string>;

namespace environments_test {
namespace {

void add(LockFile& lock, std::string environment, std::string platform, const Texts& names) {
    LockedClass locked;
    locked.name = locked.platform = std::move(platform);
    locked.environment = std::move(environment);
    PackageAdder adder(lock);
    for (const auto& name : names) {
        LockedPackage package;
        package.record.name = name;
        package.record.url = "https://h/c/noarch/" + name + "-1-0.conda";
        locked.packages.push_back(adder.add(package).value());
    }
    lock.classes.push_back(std::move(locked));
}

LockFile two_environments() {
    LockFile lock;
    lock.channels = {{"https://h/c", {}}};
    add(lock, "default", "linux-64", {"python"});
    add(lock, "test", "linux-64", {"pytest", "python"});
    lock.environments["test"].channels = {{{"https://h/d", {}}}};
    lock.environments["empty"];
    return lock;
}

/// "linux-64: a b", a line for each class.
Texts told(const LockFile& lock) {
    Texts lines;
    for (const auto& locked : lock.classes) {
        CHECK(locked.environment == kDefaultEnvironment);
        std::set<std::string> names;
        for (const auto& record : lock.records_of(locked)) names.insert(record.name);
        auto line = locked.name + ":";
        for (const auto& name : names) line += " " + name;
        lines.push_back(line);
    }
    return lines;
}

std::string fault(const LockFile& lock, const std::string& name) {
    const auto found = lock_of_environment(lock, name);
    return found ? "" : found.error().message + " | " + found.error().hint;
}

}  // namespace

TEST_CASE("an environment of a lock can stand alone", "[lock]") {
    const auto lock = two_environments();
    CHECK(other_environments(lock) == Texts{"test"});
    const auto test = lock_of_environment(lock, "test").value();
    CHECK(told(test) == Texts{"linux-64: pytest python"});
    CHECK(test.packages.size() == 2);
    CHECK(test.channels == std::vector<LockedChannel>{{"https://h/d", {}}});
    CHECK(test.environments.empty());
    CHECK(told(lock_of_environment(lock, "default").value()) == Texts{"linux-64: python"});
    auto with_options = lock;
    with_options.environments["test"].kept = {{"indexes", "[https://i/simple]"}};
    CHECK(lock_of_environment(with_options, "test")->environments ==
          std::map<std::string, LockedEnvironment>{
              {"default", {{}, {{"indexes", "[https://i/simple]"}}}}});
    CHECK(fault(lock, "tset") == "no environment tset | did you mean test?");
    CHECK(fault(lock, "quite-other") ==
          "no environment quite-other | the lock has default, empty and test");
    CHECK(fault(lock, "empty") == "the environment empty is empty | ");
}

TEST_CASE("whether a request was changed by hand is seen of one environment as well", "[lock]") {
    auto lock = two_environments();
    lock.classes[1].wishes = LockWishes{{"pytest"}};
    lock.request.digest = request_digest(lock);
    const auto alone = lock_of_environment(lock, "test").value();
    CHECK(alone.request.digest == request_digest(alone));
    lock.classes[1].wishes = LockWishes{{"other"}};
    const auto changed = lock_of_environment(lock, "test").value();
    CHECK(changed.request.digest != request_digest(changed));
}

TEST_CASE("environments of conda-lock are called categories", "[lock]") {
    LockFile lock;
    lock.tool = LockTool::CondaLock;
    add(lock, "default", "linux-64", {"python", "six"});
    add(lock, "dev", "linux-64", {"gpu", "python", "six"});
    CHECK(told(lock_of_environment(lock, "main").value()) == Texts{"linux-64: python six"});
    CHECK(told(lock_of_environment(lock, "dev").value()) == Texts{"linux-64: gpu python six"});
    CHECK(environment_title(lock, "default") == "category main");
    CHECK(fault(lock, "devs") == "no category devs | did you mean dev?");
}

TEST_CASE("the start of a class's name means it where no other begins so", "[lock]") {
    const Texts names{"a100-glibc-2.36", "cpu", "cpu-avx512", "h100-80gb", "h100-96gb"};
    CHECK(class_index(names, "a100-glibc-2.36").value() == 0);
    CHECK(class_index(names, "a100").value() == 0);
    CHECK(class_index(names, "cpu").value() == 1);
    CHECK_FALSE(class_index(names, "h100").has_value());
    CHECK_FALSE(class_index(names, "a10").has_value());
    CHECK_FALSE(class_index(names, "").has_value());
}

}  // namespace environments_test
