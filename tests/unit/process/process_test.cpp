#include "libcore/process/process.hpp"

#include "tests/support/catch.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using gpkg::ProcessCommand;

TEST_CASE("a program runs with the environment it is given", "[process]") {
    ProcessCommand command;
    command.arguments = {"sh", "-c", "echo $A; echo ${HOME-none}; pwd; cat; exit 3"};
    command.environment = {{"A", "1 2"}, {"PATH", "/usr/bin:/bin"}};
    command.folder = "/usr";
    const auto done = gpkg::run_and_capture(command);
    REQUIRE(done);
    CHECK(done->exit_code == 3);
    CHECK(done->output == "1 2\nnone\n/usr\n");
}

TEST_CASE("programs that cannot run or are killed", "[process]") {
    ProcessCommand command;
    command.arguments = {"gpkg-no-such-program"};
    CHECK(gpkg::run_command(command).error().message ==
          "gpkg-no-such-program: program not found on PATH");
    command.arguments = {"/etc/passwd"};
    CHECK(gpkg::run_command(command).error().message ==
          "/etc/passwd: cannot run: Permission denied");
    command.arguments = {"sh", "-c", "kill -9 $$"};
    CHECK(gpkg::run_command(command) == 137);
}

TEST_CASE("a cancelled program is gone, its children too", "[process]") {
    ProcessCommand command;
    command.arguments = {"sh", "-c", "sleep 100 & sleep 100"};
    std::atomic<int> asked = 0;
    command.cancelled = [&] { return ++asked > 5; };
    const auto start = std::chrono::steady_clock::now();
    const auto result = gpkg::run_command(command);
    REQUIRE_FALSE(result);
    CHECK(result.error().kind == gpkg::ErrorKind::Interrupted);
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));
}

TEST_CASE("output is handed over as it comes, and not waited for", "[process]") {
    ProcessCommand command;
    std::string taken;
    command.output = [&](std::string_view said) { taken += said; };
    command.arguments = {"sh", "-c", "echo out; echo err >&2; exit 4"};
    CHECK(gpkg::run_command(command) == 4);
    CHECK(taken == "out\nerr\n");
    // More than a pipe holds.
    taken.clear();
    command.arguments = {"sh", "-c", "yes | head -c 1000000"};
    CHECK(gpkg::run_command(command) == 0);
    CHECK(taken.size() == 1000000);
    // Who keeps the pipe open in another session does not hold us up.
    taken.clear();
    command.arguments = {"sh", "-c", "setsid sleep 30 & echo done"};
    const auto start = std::chrono::steady_clock::now();
    CHECK(gpkg::run_command(command) == 0);
    CHECK(taken == "done\n");
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));
}

TEST_CASE("a program is fed while it runs", "[process]") {
    ProcessCommand command;
    command.arguments = {"wc", "-c"};
    std::string said;
    command.output = [&](std::string_view text) { said += text; };
    const std::string much(1'000'000, 'x');
    command.feed = [&](int end) { CHECK(gpkg::write_fully(end, much)); };
    CHECK(gpkg::run_command(command) == 0);
    CHECK(said == "1000000\n");

    // One that stops reading, and one that never reads.
    bool ended = true;
    command.arguments = {"head", "-c", "3"};
    command.feed = [&](int end) {
        while (gpkg::write_fully(end, much)) continue;
        ended = errno == EPIPE;
    };
    CHECK(gpkg::run_command(command) == 0);
    CHECK(ended);
    command.arguments = {"nowhere"};
    CHECK(gpkg::run_command(command).error().kind == gpkg::ErrorKind::NotFound);
}

TEST_CASE("the last lines of a text", "[process]") {
    CHECK(gpkg::last_lines("1\n2\n3\n", 2) == "2\n3");
    CHECK(gpkg::last_lines("1\n2\n3\n", 3) == "1\n2\n3");
    CHECK(gpkg::last_lines("1\n2\n3\n", 9) == "1\n2\n3");
    CHECK(gpkg::last_lines("", 2).empty());
}

TEST_CASE("programs that leave their group end with who keeps them", "[process]") {
    ProcessCommand command;
    command.arguments = {"sh", "-c", "setsid sh -c 'sleep 300 & echo $!; wait' & sleep 0.5"};
    command.environment = {{"PATH", "/usr/bin:/bin"}};
    std::optional<gpkg::Orphanage> orphanage;
    orphanage.emplace();
    std::string said;
    command.output = [&](std::string_view text) { said += text; };
    REQUIRE(gpkg::run_command(command) == 0);
    const auto sleeper = static_cast<pid_t>(std::strtol(said.c_str(), nullptr, 10));
    REQUIRE(sleeper > 0);
    CHECK(::kill(sleeper, 0) == 0);
    orphanage.reset();
    CHECK(::kill(sleeper, 0) != 0);
}

TEST_CASE("what a program starts ends with a caller that is killed", "[process]") {
    const auto folder = gpkg::TemporaryFolder::make(gpkg::fs::temp_directory_path());
    REQUIRE(folder);
    const auto file = [&](const char* name) { return (folder->path() / name).native(); };
    ProcessCommand command;
    command.arguments = {"sh",
                         "-c",
                         "(sleep 1; touch \"$1\") & setsid sh -c 'sleep 1; touch \"$0\"' \"$2\" & "
                         "touch \"$3\"; sleep 5",
                         "sh",
                         file("in-group"),
                         file("in-session"),
                         file("started")};
    command.ends_with_caller = true;
    const auto caller = ::fork();
    if (caller == 0) {
        (void)gpkg::run_command(command);
        ::_exit(0);
    }
    for (int i = 0; i < 200 && !gpkg::is_there(file("started")); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    REQUIRE(gpkg::is_there(file("started")));
    ::kill(caller, SIGKILL);
    ::waitpid(caller, nullptr, 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    CHECK_FALSE(gpkg::is_there(file("in-group")));
    CHECK_FALSE(gpkg::is_there(file("in-session")));
    // Else it is run as any other.
    command.arguments = {"sh", "-c", "echo out; exit 3"};
    const auto done = gpkg::run_and_capture(command);
    REQUIRE(done);
    CHECK(done->exit_code == 3);
    CHECK(done->output == "out\n");
    command.arguments = {"sh", "-c", "kill -9 $$"};
    CHECK(gpkg::run_command(command) == 137);
    command.arguments = {"/etc/passwd"};
    CHECK(gpkg::run_command(command).error().message ==
          "/etc/passwd: cannot run: Permission denied");
}

TEST_CASE("errors are taken apart from the output", "[process]") {
    ProcessCommand command;
    std::string output;
    std::string errors;
    command.output = [&](std::string_view said) { output += said; };
    command.errors = [&](std::string_view said) { errors += said; };
    command.arguments = {
        "sh", "-c", "echo out; echo err >&2; yes | head -c 200000; yes | head -c 200000 >&2"};
    CHECK(gpkg::run_command(command) == 0);
    CHECK(output.size() == 200004);
    CHECK(errors.size() == 200004);
    command.output = {};
    command.arguments = {"sh", "-c", "echo out; echo only >&2"};
    errors.clear();
    CHECK(gpkg::run_command(command) == 0);
    CHECK(errors == "only\n");
}

TEST_CASE("a cancelled program may end by itself first", "[process]") {
    ProcessCommand command;
    std::string said;
    command.output = [&](std::string_view piece) { said += piece; };
    command.cancelled = [&] { return said.find("ready") != std::string::npos; };
    command.grace = std::chrono::seconds(20);
    command.arguments = {
        "sh", "-c", "trap 'echo bye; exit 1' TERM; echo ready; while :; do :; done"};
    CHECK(gpkg::run_command(command).error().kind == gpkg::ErrorKind::Interrupted);
    CHECK(said == "ready\nbye\n");
    // One that does not is killed all the same.
    said.clear();
    command.grace = std::chrono::milliseconds(200);
    command.arguments = {"sh", "-c", "trap '' TERM; echo ready; sleep 60; echo late"};
    const auto start = std::chrono::steady_clock::now();
    CHECK(gpkg::run_command(command).error().kind == gpkg::ErrorKind::Interrupted);
    CHECK(said == "ready\n");
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));
}
