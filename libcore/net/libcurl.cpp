#include "libcore/net/libcurl_internal.hpp"

#include <dlfcn.h>
#include <optional>

namespace gpkg {
namespace {

struct Loaded {
    std::optional<LibCurl> library;
    std::string problem;
};

Loaded load() {
    // What the headers that this was compiled with belong to; its interface is frozen since 2006.
    void* handle = ::dlopen(GPKG_LIBCURL, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return {std::nullopt, ::dlerror()};
    LibCurl library{};
    decltype(&::curl_global_init) global_init = nullptr;
    std::string missing;
    const auto find = [&](auto& function, const char* name) {
        void* symbol = ::dlsym(handle, name);
        if (symbol == nullptr) missing = name;
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(symbol);
    };
    find(global_init, "curl_global_init");
    find(library.easy_cleanup, "curl_easy_cleanup");
    find(library.easy_getinfo, "curl_easy_getinfo");
    find(library.easy_header, "curl_easy_header");
    find(library.easy_init, "curl_easy_init");
    find(library.easy_setopt, "curl_easy_setopt");
    find(library.easy_strerror, "curl_easy_strerror");
    find(library.multi_add_handle, "curl_multi_add_handle");
    find(library.multi_cleanup, "curl_multi_cleanup");
    find(library.multi_info_read, "curl_multi_info_read");
    find(library.multi_init, "curl_multi_init");
    find(library.multi_perform, "curl_multi_perform");
    find(library.multi_poll, "curl_multi_poll");
    find(library.multi_remove_handle, "curl_multi_remove_handle");
    find(library.multi_strerror, "curl_multi_strerror");
    find(library.multi_wakeup, "curl_multi_wakeup");
    find(library.slist_append, "curl_slist_append");
    find(library.slist_free_all, "curl_slist_free_all");
    if (!missing.empty()) return {std::nullopt, GPKG_LIBCURL " is too old: it lacks " + missing};
    // Wanted once, before anything else; thread-safe since 7.84.
    if (global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return {std::nullopt, GPKG_LIBCURL " cannot be initialized"};
    return {library, {}};
}

const Loaded& loaded() {
    static const Loaded once = load();
    return once;
}

}  // namespace

const LibCurl* libcurl() { return loaded().library ? &*loaded().library : nullptr; }
const std::string& libcurl_problem() { return loaded().problem; }

}  // namespace gpkg
