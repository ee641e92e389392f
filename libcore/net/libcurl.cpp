#include "libcore/base/shared_library.hpp"
#include "libcore/net/libcurl_internal.hpp"

namespace gpkg {
namespace {

struct Loaded {
    LibCurl functions;
    std::string problem;
};

Loaded load() {
    // What the headers that this was compiled with belong to; its interface is frozen since 2006.
    SharedLibrary library(GPKG_LIBCURL);
    LibCurl functions;
    decltype(&::curl_global_init) global_init = nullptr;
#define GPKG_FIND(name) library.find(functions.name, "curl_" #name);
    GPKG_LIBCURL_FUNCTIONS(GPKG_FIND)
#undef GPKG_FIND
    library.find(global_init, "curl_global_init");
    if (!library.problem().empty()) return {{}, library.problem()};
    // Wanted once, before anything else; thread-safe since 7.84.
    if (global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return {{}, GPKG_LIBCURL " cannot be initialized"};
    return {functions, {}};
}

const Loaded& loaded() {
    static const Loaded once = load();
    return once;
}

}  // namespace

const LibCurl* libcurl() { return loaded().problem.empty() ? &loaded().functions : nullptr; }
const std::string& libcurl_problem() { return loaded().problem; }

}  // namespace gpkg
