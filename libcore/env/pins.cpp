#include "libcore/env/pins.hpp"

#include "libcore/base/text.hpp"
#include "libcore/spec/spec_text.hpp"

namespace gpkg {
namespace {

constexpr std::string_view kFile = "conda-meta/pinned";

/// Whether a line of the file is a pin of this package.
bool pins(std::string_view line, std::string_view name) {
    const auto text = trim(line.substr(0, line.find('#')));
    if (text.empty()) return false;
    const auto spec = MatchSpec::parse(std::string(text));
    return spec && spec->name == name;
}

}  // namespace

std::string without_pin(std::string_view text, std::string_view name) {
    std::string kept;
    for (const auto line : split(text, '\n')) {
        if (pins(line, name)) continue;
        kept += line;
        kept += '\n';
    }
    // split() gives an empty part after the last line end.
    if (text.empty() || text.ends_with('\n')) kept.pop_back();
    return kept;
}

std::string with_pin(std::string_view text, const MatchSpec& pin) {
    auto changed = without_pin(text, pin.name);
    if (!changed.empty() && !changed.ends_with('\n')) changed += '\n';
    return changed + written(pin) + '\n';
}

Result<std::string> read_pins(const fs::path& prefix) {
    const auto file = prefix / kFile;
    std::error_code code;
    if (!fs::exists(file, code) && !code) return std::string();
    return read_file(file);
}

Result<void> write_pins(const fs::path& prefix, std::string_view text) {
    const auto file = prefix / kFile;
    if (!trim(text).empty()) return write_file_atomically(file, std::string(text));
    std::error_code code;
    fs::remove(file, code);
    return code ? Result<void>(pass(io_error(file, "remove", code.value()))) : Result<void>();
}

}  // namespace gpkg
