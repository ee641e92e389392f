#include "libcore/base/shared_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

namespace gpkg {

// Lazy binding: most functions of these libraries and their dependencies are never called.
SharedLibrary::SharedLibrary(const char* name)
    : name_(name), handle_(::dlopen(name, RTLD_LAZY | RTLD_LOCAL)) {
    if (handle_ == nullptr) problem_ = ::dlerror();
}

void* SharedLibrary::symbol(const char* name) {
    if (handle_ == nullptr) return nullptr;
    void* found = ::dlsym(handle_, name);
    if (found == nullptr) problem_ = fmt::format("{} is too old: {} is missing", name_, name);
    return found;
}

}  // namespace gpkg
