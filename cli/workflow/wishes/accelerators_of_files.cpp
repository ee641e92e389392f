#include "cli/workflow/wishes/accelerators_of_files.hpp"

#include <fmt/format.h>

namespace gpkg::cli {

Result<void> AcceleratorsOfFiles::take(const AcceleratorWishes& said, const std::string& file) {
    const auto of_all = to_string(AcceleratorWishes{said.all, said.fallbacks, {}});
    if (!of_all.empty()) {
        const bool is_settled = !on_line_.all.empty() || !on_line_.fallbacks.empty();
        GPKG_CHECK(compare("", of_all, file, is_settled));
    }
    for (const auto& [name, choice] : said.of_package)
        GPKG_CHECK(compare(
            name, std::string(to_string(choice)), file, on_line_.of_package.contains(name)));
    together_.override_with(said);
    return {};
}

Result<void> AcceleratorsOfFiles::compare(const std::string& name,
                                          const std::string& wish,
                                          const std::string& file,
                                          bool is_settled) {
    const auto [first, is_new] = said_.emplace(name, std::pair(wish, file));
    if (is_new || is_settled || first->second.first == wish) return {};
    const auto& [earlier, its_file] = first->second;
    const auto of = name.empty() ? std::string() : fmt::format(" of {}", name);
    return fail(
        ErrorKind::Usage,
        fmt::format(
            "conflicting accelerators{}: {} in {}, {} in {}", of, earlier, its_file, wish, file),
        name.empty() ? "choose one: --accel " + wish
                     : fmt::format("choose one: {}[accel={}]", name, wish));
}

}  // namespace gpkg::cli
