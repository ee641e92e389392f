#include "libcore/base/shared_library.hpp"
#include "libcore/package/libarchive_internal.hpp"

namespace gpkg {
namespace {

struct Loaded {
    LibArchive functions;
    std::string problem;
};

Loaded load() {
    // What the headers that this was compiled with belong to; its interface is stable since 2012.
    SharedLibrary library(GPKG_LIBARCHIVE);
    LibArchive functions;
#define GPKG_FIND(name) library.find(functions.name, "archive_" #name);
    GPKG_LIBARCHIVE_FUNCTIONS(GPKG_FIND)
#undef GPKG_FIND
    library.find(functions.error_number, "archive_errno");
    return {functions, library.problem()};
}

const Loaded& loaded() {
    static const Loaded once = load();
    return once;
}

}  // namespace

const LibArchive* libarchive() { return loaded().problem.empty() ? &loaded().functions : nullptr; }

Result<void> need_libarchive() {
    if (libarchive() != nullptr) return {};
    return fail(ErrorKind::Unsupported,
                loaded().problem,
                "install libarchive, which reads and writes packages");
}

}  // namespace gpkg
