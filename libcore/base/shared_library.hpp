#pragma once

// A library that is loaded when it is first needed and not with the program: what some bring along
// would cost every command milliseconds, and most commands need none of it.

#include <string>
#include <type_traits>

namespace gpkg {

class SharedLibrary {
public:
    /// Loads `name` for the life of the process. Where that fails, problem() says why.
    explicit SharedLibrary(const char* name);

    /// Sets `function` to the one of that name; a missing one is a problem().
    template <typename Function>
    void find(Function*& function, const char* name) {
        static_assert(std::is_function_v<Function>);
        function = reinterpret_cast<Function*>(symbol(name));
    }

    /// What kept the library or one of its functions from being found; empty when nothing did.
    const std::string& problem() const { return problem_; }

private:
    void* symbol(const char* name);

    std::string name_;
    void* handle_ = nullptr;
    std::string problem_;
};

}  // namespace gpkg
