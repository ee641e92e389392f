#include "libcore/base/error.hpp"

#include "libcore/base/text.hpp"

#include <fmt/format.h>

namespace gpkg {

Error Error::while_doing(std::string step) && {
    context.push_back(std::move(step));
    return std::move(*this);
}

std::string Error::to_string() const {
    std::string text;
    for (auto step = context.rbegin(); step != context.rend(); ++step) text += *step + ": ";
    text += message;
    if (!hint.empty()) text += "\n  hint: " + hint;
    return text;
}

tl::unexpected<Error> fail(ErrorKind kind, std::string message, std::string hint) {
    return tl::unexpected<Error>(Error{kind, std::move(message), std::move(hint), {}});
}

std::string environment_argument(const std::string& prefix) { return "-p " + shell_word(prefix); }

Error with_environment_hint(Error error, std::string_view hint, const std::string& prefix) {
    error.hint = fmt::format(fmt::runtime(hint), environment_argument(prefix));
    error.environment = prefix;
    return error;
}

}  // namespace gpkg
