#include "libcore/base/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <system_error>

namespace gpkg {

Workers::Workers(std::size_t wanted, const std::function<void()>& work) {
    threads_.reserve(wanted);
    try {
        while (threads_.size() < wanted) threads_.emplace_back(work);
    } catch (const std::system_error&) {
        return;  // those that there are will do
    }
}

void Workers::join() {
    for (auto& thread : threads_) {
        if (thread.joinable()) thread.join();
    }
}

void run_in_parallel(std::size_t threads, const std::function<void()>& work) {
    Workers others(threads > 0 ? threads - 1 : 0, work);
    work();
}

void for_each_index(std::size_t count,
                    std::size_t threads,
                    const std::function<void(std::size_t)>& work) {
    std::atomic<std::size_t> next = 0;
    run_in_parallel(std::min(count, threads), [&] {
        for (auto i = next++; i < count; i = next++) work(i);
    });
}

}  // namespace gpkg
