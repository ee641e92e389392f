#include "libcore/env/moved.hpp"

#include "libcore/base/text.hpp"
#include "libcore/env/prefix.hpp"

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>

namespace gpkg {
namespace {

constexpr std::size_t kStart = 4096;
constexpr std::size_t kMostRecords = 64;  // that tell of a move: the search must stay cheap

std::string start_of(const fs::path& file) {
    std::error_code code;
    if (!fs::is_regular_file(file, code)) return {};
    std::ifstream stream(file, std::ios::binary);
    std::string text(kStart, '\0');
    stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(stream.gcount()));
    return text;
}

std::string_view line_at(std::string_view text, std::size_t at) {
    return text.substr(at, text.find('\n', at) - at);
}

/// "/env" of "/env/bin/python"; empty for anything else.
fs::path prefix_of_program(std::string_view program) {
    const fs::path path(program);
    const auto folder = path.parent_path();
    return path.is_absolute() && folder.filename() == "bin" ? folder.parent_path() : fs::path();
}

/// The prefix of the interpreter in the first line of a script. A path that is too long for it is
/// in the second (shebang() of placeholder.hpp).
fs::path prefix_of_interpreter(std::string_view text) {
    constexpr std::string_view kSecond = "'''exec' \"";
    if (!text.starts_with("#!")) return {};
    auto line = line_at(text, 0).substr(2);
    const auto second = line_at(text, std::min(line.size() + 3, text.size()));
    if (second.starts_with(kSecond)) {
        const auto program = second.substr(kSecond.size());
        return prefix_of_program(program.substr(0, program.find('"')));
    }
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    return prefix_of_program(line.substr(0, line.find_first_of(" \t\r")));
}

/// The value of a line "prefix=/env", as pkg-config files and scripts have it.
fs::path prefix_of_setting(std::string_view text) {
    for (auto line : split(text, '\n')) {
        constexpr std::string_view kSetting = "prefix=";
        if (!line.starts_with(kSetting)) continue;
        line.remove_prefix(kSetting.size());
        const fs::path path(line);
        return path.is_absolute() ? path : fs::path();
    }
    return {};
}

bool is_same(const fs::path& a, const fs::path& b) {
    std::error_code code;
    return a.lexically_normal() == b.lexically_normal() || fs::equivalent(a, b, code);
}

/// Whether an environment is, or was, at `other`. Folders such as /usr are no environments.
bool was_environment(const fs::path& other) {
    std::error_code code;
    return !other.empty() && (!fs::exists(other, code) || Prefix::is_environment(other));
}

bool has_prefix(const PrefixPath& path) {
    return path.type == PrefixPathType::UnixPythonEntryPoint ||
           (path.type == PrefixPathType::HardLink && path.is_rewritten());
}

/// The path that the package's files have for the environment; nothing if none of them tells.
std::optional<fs::path> prefix_in_files(const fs::path& prefix, const PrefixRecord& record) {
    for (const auto& path : record.paths) {
        if (!has_prefix(path) || path.binary) continue;
        const auto text = start_of(prefix / path.path);
        for (auto& named : {prefix_of_interpreter(text), prefix_of_setting(text)}) {
            if (!named.empty() && (is_same(named, prefix) || was_environment(named))) return named;
        }
    }
    return std::nullopt;
}

/// Whether a record in JSON may have text files that contain the path of the environment.
bool may_have_prefix_in_text(std::string_view json) {
    return json.find("\"prefix_placeholder\"") != std::string_view::npos ||
           json.find("\"unix_python_entry_point\"") != std::string_view::npos;
}

}  // namespace

std::optional<fs::path> other_prefix_in_script(const fs::path& prefix, const fs::path& script) {
    auto other = prefix_of_interpreter(start_of(script));
    if (!was_environment(other) || is_same(other, prefix)) return std::nullopt;
    return other;
}

std::optional<fs::path> moved_from(const fs::path& prefix,
                                   const std::vector<PrefixRecord>& records) {
    for (const auto& record : records) {
        const auto named = prefix_in_files(prefix, record);
        if (named) return is_same(*named, prefix) ? std::nullopt : named;
    }
    return std::nullopt;
}

std::optional<fs::path> moved_from(const fs::path& prefix) {
    auto files = record_files(prefix);
    if (!files) return std::nullopt;
    std::sort(files->begin(), files->end());
    files->resize(std::min(files->size(), kMostRecords));
    for (const auto& file : *files) {
        const auto json = read_file(file);
        if (!json || !may_have_prefix_in_text(*json)) continue;
        const auto record = PrefixRecord::parse(*json, file.native());
        const auto named = record ? prefix_in_files(prefix, *record) : std::nullopt;
        if (named) return is_same(*named, prefix) ? std::nullopt : named;
    }
    return std::nullopt;
}

bool names_prefix(const PrefixRecord& record) {
    return std::ranges::any_of(record.paths, [](const PrefixPath& path) {
        return has_prefix(path) ||
               (path.type == PrefixPathType::SoftLink && !path.prefix_placeholder.empty());
    });
}

}  // namespace gpkg
