// Every file of the folder that GPKG_TEST_LOCKS names: pixi.lock and conda-lock.yml files
// of real projects.

#include "libcore/classes/class_flaws.hpp"
#include "libcore/lock/lock_format.hpp"
#include "libcore/yaml/node.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>

using namespace gpkg;

namespace real_locks_test {
namespace {

using Facts = std::multiset<std::string>;

/// "conda: https://..." and so on, with the hashes.
std::string fact_of(const yaml::Node& package) {
    std::string fact;
    for (const auto* key : {"conda", "conda_source", "pypi", "sha256", "md5"}) {
        if (const auto* value = package.find(key)) fact += value->text() + " ";
    }
    return fact;
}

/// What must survive a round trip whatever the model makes of it, straight from a pixi.lock: each
/// environment's and platform's locations, and each package's location and hashes.
Facts facts_of_pixi(std::string_view text) {
    const auto root = yaml::Node::parse(text, "pixi.lock");
    REQUIRE(root);
    Facts facts;
    for (const auto& [name, environment] : root->find("environments")->entries()) {
        for (const auto& [platform, list] : environment.find("packages")->entries())
            for (const auto& item : list.items())
                facts.insert(name + " " + platform + " " + fact_of(item));
    }
    for (const auto& item : root->find("packages")->items()) facts.insert(fact_of(item));
    return facts;
}

void check_file(const fs::path& path) {
    const auto text = read_file(path);
    REQUIRE(text);
    const auto read = parse_lock(*text, path.string());
    if (!read && read.error().kind == ErrorKind::Unsupported) {
        WARN(read.error().to_string());
        return;
    }
    INFO((read ? "" : read.error().to_string()));
    REQUIRE(read);
    const auto written = format_lock(read->lock, read->format);
    INFO((written ? "" : written.error().to_string()));
    REQUIRE(written);
    const auto again = parse_lock(*written, path.string());
    INFO((again ? "" : again.error().to_string()));
    REQUIRE(again);
    CHECK((again->lock == read->lock));
    CHECK((format_lock(again->lock, read->format) == *written));
    // Older versions of pixi.lock are written as version 6.
    const bool is_as_written = text->find("\n- conda: ") != std::string::npos;
    if (is_as_written && read->lock.tool == LockTool::Pixi) {
        const auto before = facts_of_pixi(*text);
        const auto after = facts_of_pixi(*written);
        Facts lost;
        std::set_symmetric_difference(before.begin(),
                                      before.end(),
                                      after.begin(),
                                      after.end(),
                                      std::inserter(lost, lost.end()));
        CHECK(lost == Facts{});
    }
    for (const auto& locked : read->lock.classes) {
        if (locked.environment != kDefaultEnvironment) continue;
        INFO(locked.name);
        CHECK(flaws_of(read->lock, locked) == std::vector<std::string>());
    }
    // gpkg's own format holds all of it, where every package has a hash.
    const auto own = format_lock(read->lock, LockFormat::Gpkg);
    if (!own) {
        CHECK(own.error().message.ends_with("its channel has no checksum for it"));
        return;
    }
    const auto back = parse_lock(*own, "gpkg.lock");
    INFO((back ? "" : back.error().to_string()));
    REQUIRE(back);
    CHECK((back->lock == read->lock));
    CHECK((format_lock(back->lock, LockFormat::Gpkg) == *own));
}

}  // namespace

TEST_CASE("real lock files are read, written and read again", "[lock]") {
    const char* folder = std::getenv("GPKG_TEST_LOCKS");
    if (folder == nullptr || *folder == '\0') {
        WARN("skipped: GPKG_TEST_LOCKS names no folder of real lock files");
        return;
    }
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(folder)) {
        DYNAMIC_SECTION(entry.path().filename().string()) { check_file(entry.path()); }
        ++count;
    }
    REQUIRE(count > 0);
}

}  // namespace real_locks_test
