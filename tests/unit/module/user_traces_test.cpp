#include "libcore/module/user_traces_internal.hpp"
#include "tests/support/catch.hpp"

using namespace gpkg;

namespace user_traces_test {

TEST_CASE("scripts that ask the system who the user is", "[module]") {
    for (const auto* script :
         {"X=$UID", "X=${EUID}", "X=$(id -un)", "X=$(id)", "X=`id`", "$(whoami)"}) {
        CAPTURE(script);
        CHECK(asks_for_user(script));
    }
    for (const auto* script :
         {"X=$UUID", "X=$UID_OF_JOB", "X=$job_id", "# the id of a job", "grid -u"}) {
        CAPTURE(script);
        CHECK_FALSE(asks_for_user(script));
    }
}

TEST_CASE("a user's name or number is in a value as a whole", "[module]") {
    const std::vector<std::string> names{"1000", "ann"};
    for (const auto* value :
         {"1000", "/tmp/krb5cc_1000", "/run/user/1000/x", "11000:1000", "ann@host"}) {
        CAPTURE(value);
        CHECK(has_one_of(value, names));
    }
    for (const auto* value : {"", "11000", "10001", "/tmp/anna", "v1000"}) {
        CAPTURE(value);
        CHECK_FALSE(has_one_of(value, names));
    }
    CHECK_FALSE(has_one_of("1000", {}));
}

}  // namespace user_traces_test
