#pragma once

// The interpreters that build scripts may name (CEP 14, `script.interpreter`).

#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

struct ScriptProgram {
    std::string_view interpreter;        ///< as recipes name it
    std::string_view suffix;             ///< of a file with such a script
    std::vector<std::string> arguments;  ///< the program, then what goes before the file
};

/// Null for an interpreter that gpkg does not know. The program itself comes from the build's
/// environments, or from the machine.
const ScriptProgram* script_program(std::string_view interpreter);

/// The one for files that end so; null when there is none.
const ScriptProgram* script_program_for(std::string_view suffix);

/// "bash, node, perl ...", for errors.
std::string script_interpreters();

}  // namespace gpkg
