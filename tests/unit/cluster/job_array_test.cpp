#include "libcore/cluster/job_array.hpp"

#include "tests/support/catch.hpp"

#include <algorithm>

using namespace gpkg;

TEST_CASE("An array is submitted with the user's options, and with what they must not change",
          "[slurm]") {
    ArrayRequest request;
    request.name = "gpkg-build-1";
    request.script = "/w/script.sh";
    request.count = 8;
    request.folder = "/home/me";
    request.logs = "/w/50% of it";
    request.words = {"--mem=4G", "--export=NONE"};
    CHECK(sbatch_command(request) == std::vector<std::string>{"sbatch",
                                                              "--parsable",
                                                              "--export=ALL",
                                                              "--mem=4G",
                                                              "--export=NONE",
                                                              "--array=0-7",
                                                              "--job-name=gpkg-build-1",
                                                              "--chdir=/home/me",
                                                              "--output=/w/50%% of it/%a.log",
                                                              "--error=/w/50%% of it/%a.log",
                                                              "/w/script.sh"});
    request.at_a_time = 3;
    const auto command = sbatch_command(request);
    CHECK(std::find(command.begin(), command.end(), "--array=0-7%3") != command.end());
}

TEST_CASE("The queue, as squeue prints it", "[slurm]") {
    const auto tasks = parse_queue(
        "17|3|RUNNING|n2|None\n"
        "17|4|PENDING||Resources\n"
        "17|5|PENDING||launch failed requeued held\n"
        "18|0|COMPLETING|n1|None\n"
        "18|1|COMPLETED|n1|None\n"
        "19|N/A|PENDING||Priority\n"
        "slurm_load_jobs error\n");
    REQUIRE(tasks.size() == 4);
    CHECK(tasks.at({"17", 3}).node == "n2");
    CHECK(tasks.at({"17", 3}).reason.empty());
    CHECK(tasks.at({"17", 4}).is_waiting());
    CHECK_FALSE(tasks.at({"17", 4}).is_held());
    CHECK(tasks.at({"17", 5}).is_held());
    CHECK(tasks.at({"18", 0}).is_ending());
}

TEST_CASE("How a task ended, as scontrol tells it", "[slurm]") {
    // Of slurm 22.05, in part; a name may look like a key.
    const std::string text =
        "JobId=20 ArrayJobId=17 ArrayTaskId=3 JobName=gpkg-build-1\n"
        "   UserId=root(0) GroupId=root(0) MCS_label=N/A\n"
        "   JobState=OUT_OF_MEMORY Reason=OutOfMemory Dependency=(null)\n"
        "   Requeue=1 Restarts=0 BatchFlag=1 Reboot=0 ExitCode=0:125\n"
        "   RunTime=00:00:03 TimeLimit=01:00:00 TimeMin=N/A\n"
        "   ReqNodeList=(null) ExcNodeList=(null)\n"
        "   NodeList=n2\n"
        "   BatchHost=n2\n";
    const auto task = parse_ended(text);
    REQUIRE(task);
    CHECK(task->state == "OUT_OF_MEMORY");
    CHECK(task->reason == "OutOfMemory");
    CHECK(task->node == "n2");
    CHECK(task->time_limit == "01:00:00");
    CHECK(task->exit_code == 0);
    CHECK(task->signal == 125);
    CHECK_FALSE(parse_ended("JobId=20\n   JobState=RUNNING Reason=None\n"));
    CHECK_FALSE(parse_ended(""));
    // Cancelled before it had a node.
    const auto waiting =
        parse_ended("JobId=1\n   JobState=CANCELLED Reason=None\n   NodeList=(null)\n");
    REQUIRE(waiting);
    CHECK(waiting->node.empty());
    CHECK(waiting->reason.empty());
}

TEST_CASE(
    "Tasks that were cancelled while they waited are found in the record that is left of them") {
    // As scontrol 22.05 printed them, but for the lines between.
    constexpr std::string_view kOwn =
        "JobId=8 ArrayJobId=7 ArrayTaskId=1 JobName=b\n   JobState=COMPLETED Reason=None\n   "
        "ExitCode=0:0\n   BatchHost=n1\n\n";
    constexpr std::string_view kSome =
        "JobId=7 ArrayJobId=7 ArrayTaskId=0,3-5%2 JobName=b\n   JobState=CANCELLED "
        "Reason=JobHeldUser\n\n";
    constexpr std::string_view kAll =
        "JobId=7 ArrayJobId=7 ArrayTaskId=4294967294 JobName=b\n   JobState=CANCELLED "
        "Reason=JobHeldUser\n\n";
    const auto some = std::string(kOwn) + std::string(kSome);
    for (const auto index : {0U, 3U, 4U, 5U})
        CHECK(gpkg::parse_ended_in(some, index)->state == "CANCELLED");
    CHECK(gpkg::parse_ended_in(some, 1)->state == "COMPLETED");
    CHECK(gpkg::parse_ended_in(some, 1)->node == "n1");
    for (const auto index : {2U, 6U, 30U})
        CHECK(gpkg::parse_ended_in(some, index)->state == "CANCELLED");
    CHECK_FALSE(gpkg::parse_ended_in("JobId=7 ArrayTaskId=0-9\n   JobState=PENDING\n\n", 4));
    CHECK(gpkg::parse_ended_in(kAll, 12)->state == "CANCELLED");
    CHECK_FALSE(gpkg::parse_ended_in("", 0));
}
