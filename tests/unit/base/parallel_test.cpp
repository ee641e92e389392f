#include "libcore/base/parallel.hpp"

#include "tests/support/catch.hpp"

#include <atomic>
#include <mutex>
#include <pthread.h>
#include <set>

using gpkg::for_each_index;
using gpkg::run_in_parallel;
using gpkg::Workers;

namespace parallel_test {
namespace {

/// While it lives, the system refuses every new thread: no address space holds such a stack.
class NoThreads {
public:
    NoThreads() {
        pthread_attr_init(&attributes_);
        pthread_getattr_default_np(&attributes_);
        pthread_attr_getstacksize(&attributes_, &size_);
        set(std::size_t{1} << 50U);
    }
    ~NoThreads() {
        set(size_);
        pthread_attr_destroy(&attributes_);
    }
    NoThreads(const NoThreads&) = delete;
    NoThreads& operator=(const NoThreads&) = delete;

private:
    void set(std::size_t size) {
        pthread_attr_setstacksize(&attributes_, size);
        pthread_setattr_default_np(&attributes_);
    }
    pthread_attr_t attributes_{};
    std::size_t size_ = 0;
};

}  // namespace

TEST_CASE("every index is worked on once", "[base]") {
    const auto count = GENERATE(std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{1000});
    const auto threads = GENERATE(std::size_t{0}, std::size_t{1}, std::size_t{4});
    std::vector<std::atomic<int>> calls(count);
    for_each_index(count, threads, [&](std::size_t i) { ++calls[i]; });
    for (const auto& one : calls) CHECK(one == 1);
}

TEST_CASE("work is called once per thread", "[base]") {
    std::mutex mutex;
    std::multiset<std::thread::id> callers;
    const auto work = [&] {
        const std::lock_guard lock(mutex);
        callers.insert(std::this_thread::get_id());
    };
    run_in_parallel(3, work);
    CHECK(callers.size() == 3);
    CHECK(callers.count(std::this_thread::get_id()) == 1);
    run_in_parallel(0, work);
    CHECK(callers.count(std::this_thread::get_id()) == 2);

    Workers workers(2, work);
    CHECK(workers.count() == 2);
    workers.join();
    CHECK(callers.size() == 6);
    CHECK(callers.count(std::this_thread::get_id()) == 2);
}

TEST_CASE("where no thread is to be had the calling one does it all", "[base]") {
    std::set<std::thread::id> callers;
    std::size_t sum = 0;
    {
        const NoThreads refused;
        CHECK_THROWS_AS(std::thread([] {}), std::system_error);
        CHECK(Workers(2, [] {}).count() == 0);
        for_each_index(100, 4, [&](std::size_t i) {
            callers.insert(std::this_thread::get_id());
            sum += i;
        });
    }
    CHECK(callers == std::set{std::this_thread::get_id()});
    CHECK(sum == 4950);
    CHECK(Workers(2, [] {}).count() == 2);
}

}  // namespace parallel_test
