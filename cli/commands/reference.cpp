// `__reference markdown|man` prints what the program says of itself: docs/reference/cli.md and the
// man page.

#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/help.hpp"

#include <CLI/CLI.hpp>
#include <memory>

namespace gpkg::cli {

Action bind_reference(CLI::App& app) {
    const auto format = std::make_shared<std::string>();
    app.add_option("format", *format, "markdown or man")->required();

    return [format, &app](Context& context) -> Result<int> {
        const auto& program = *app.get_parent();
        auto text = *format == "man" ? man_page(program) : reference_page(program);
        text.pop_back();  // verbatim() ends the line
        context.out.verbatim(text);
        return 0;
    };
}

}  // namespace gpkg::cli
