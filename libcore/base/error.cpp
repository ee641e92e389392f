#include "libcore/base/error.hpp"

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

}  // namespace gpkg
