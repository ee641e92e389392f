#pragma once

// Work for several threads. Where the system refuses a thread (a limit on processes or memory) the
// work is done by fewer, down to the calling one: such a limit costs time, never the answer.
// What is handed to threads must not throw.

#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

namespace gpkg {

/// Threads that each call `work` once. For those who do something else meanwhile; others take
/// run_in_parallel or for_each_index.
class Workers {
public:
    /// Starts up to `wanted` threads.
    Workers(std::size_t wanted, const std::function<void()>& work);
    ~Workers() { join(); }
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;

    /// How many were started; none when the system refuses all.
    std::size_t count() const { return threads_.size(); }
    void join();

private:
    std::vector<std::thread> threads_;
};

/// Calls `work` in this thread and in up to `threads` - 1 others; returns when all calls have.
void run_in_parallel(std::size_t threads, const std::function<void()>& work);

/// Calls work(0) to work(count - 1), each once, by up to `threads` threads, this one among them.
void for_each_index(std::size_t count,
                    std::size_t threads,
                    const std::function<void(std::size_t)>& work);

}  // namespace gpkg
