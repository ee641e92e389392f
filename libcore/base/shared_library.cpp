#include "libcore/base/shared_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

namespace gpkg {

// Lazily: of the functions that these libraries and theirs call, most never run.
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
