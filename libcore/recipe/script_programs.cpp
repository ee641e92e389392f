#include "libcore/recipe/script_programs.hpp"

#include <algorithm>

namespace gpkg {
namespace {

const std::vector<ScriptProgram>& programs() {
    static const std::vector<ScriptProgram> all{
        {"bash", ".sh", {"bash", "-ex"}},
        {"node", ".js", {"node"}},
        {"nu", ".nu", {"nu"}},
        {"nushell", ".nu", {"nu"}},
        {"perl", ".pl", {"perl"}},
        {"python", ".py", {"python"}},
        {"r", ".R", {"Rscript"}},
        {"rscript", ".R", {"Rscript"}},
        {"ruby", ".rb", {"ruby"}},
    };
    return all;
}

}  // namespace

const ScriptProgram* script_program(std::string_view interpreter) {
    const auto found = std::find_if(programs().begin(), programs().end(), [&](const auto& each) {
        return each.interpreter == interpreter;
    });
    return found == programs().end() ? nullptr : &*found;
}

const ScriptProgram* script_program_for(std::string_view suffix) {
    const auto found = std::find_if(programs().begin(), programs().end(), [&](const auto& each) {
        return each.suffix == suffix;
    });
    return found == programs().end() ? nullptr : &*found;
}

std::string script_interpreters() {
    std::string names;
    for (const auto& each : programs()) {
        if (!names.empty()) names += ", ";
        names += each.interpreter;
    }
    return names;
}

}  // namespace gpkg
