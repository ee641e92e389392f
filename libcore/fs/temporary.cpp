#include "libcore/fs/temporary.hpp"

namespace gpkg {

fs::path folder_for_temporary() {
    std::error_code code;
    auto folder = fs::temp_directory_path(code);
    return code ? fs::path("/tmp") : folder;
}

}  // namespace gpkg
