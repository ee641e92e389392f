#include "libcore/base/error.hpp"

#include "libcore/base/text.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpkg {

bool Error::is_about_unknown(std::string_view package) const {
    return std::find(unknown_packages.begin(), unknown_packages.end(), package) !=
           unknown_packages.end();
}

Error Error::while_doing(std::string step) && {
    context.push_back(std::move(step));
    return std::move(*this);
}

std::string Error::to_string() const {
    std::string text;
    for (auto step = context.rbegin(); step != context.rend(); ++step) text += *step + ": ";
    text += message;
    if (!fixes.empty()) text += "\npossible fixes:";
    for (const auto& fix : fixes) text += "\n  " + fix;
    if (!hint.empty()) text += "\n  hint: " + hint;
    return text;
}

tl::unexpected<Error> fail(ErrorKind kind, std::string message, std::string hint) {
    return tl::unexpected<Error>(Error{kind, std::move(message), std::move(hint), {}});
}

tl::unexpected<Error> fail_as(std::string exception_name,
                              ErrorKind kind,
                              std::string message,
                              std::string hint) {
    Error error{kind, std::move(message), std::move(hint), {}};
    error.exception_name = std::move(exception_name);
    return tl::unexpected<Error>(std::move(error));
}

tl::unexpected<Error> fail_offline(ErrorKind kind, std::string message, std::string hint) {
    Error error{kind, std::move(message), std::move(hint), {}};
    error.is_offline = true;
    return tl::unexpected<Error>(std::move(error));
}

tl::unexpected<Error> fail_missing(ErrorKind kind, std::string message, std::string path) {
    Error error{kind, std::move(message), {}, {}};
    error.missing_path = std::move(path);
    return tl::unexpected<Error>(std::move(error));
}

std::string environment_argument(const std::string& prefix) { return "-p " + shell_word(prefix); }

Error with_environment_hint(Error error, std::string_view hint, const std::string& prefix) {
    error.hint = fmt::format(fmt::runtime(hint), environment_argument(prefix));
    error.environment = prefix;
    return error;
}

}  // namespace gpkg
