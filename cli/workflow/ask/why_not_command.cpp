#include "cli/workflow/ask/why_not_command.hpp"

#include "cli/given_words.hpp"
#include "libcore/base/text.hpp"
#include "libcore/hardware/asked_spec.hpp"

#include <algorithm>
#include <vector>

namespace gpkg::cli {

std::string why_not_command(const Context& context,
                            const std::string& spec,
                            const Request& request) {
    const bool of_environment = !request.installed.empty();
    const auto& arguments = context.arguments;
    std::vector<std::string> words{"gpkg", "why-not", spec};
    for (const auto place : context.positionals) {
        if (of_environment || place < 2) continue;
        const auto asked = AskedSpec::parse(arguments[place]);
        if (asked && std::ranges::find(request.specs, asked->spec.name, &MatchSpec::name) !=
                         request.specs.end())
            words.push_back(arguments[place]);
    }
    append(words,
           given_options(arguments,
                         {OptionSubject::Channels,
                          OptionSubject::Machine,
                          OptionSubject::Pins,
                          of_environment ? OptionSubject::Environment : OptionSubject::Request}));
    return shell_words(words);
}

}  // namespace gpkg::cli
