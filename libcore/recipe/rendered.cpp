#include "libcore/recipe/rendered.hpp"

#include "libcore/recipe/dependency.hpp"

namespace gpkg {

std::set<std::string> names_needed_to_build(const RenderedOutput& output) {
    std::set<std::string> names;
    for (const auto* at = &output; at != nullptr; at = at->inherited.get()) {
        for (const auto* specs : {&at->requirements.build, &at->requirements.host}) {
            for (const auto& spec : *specs) names.emplace(dependency_name(spec));
        }
    }
    return names;
}

}  // namespace gpkg
