#include "cli/command_log.hpp"

#include "libcore/base/json_text.hpp"

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;

/// A longer file loses its older half.
constexpr std::uintmax_t kMostBytes = 256 * 1024;

fs::path log_file(const Config& config) { return config.own_dir / "log" / "commands.jsonl"; }

void drop_older_half(const fs::path& file) {
    const auto text = read_file(file);
    if (!text) return;
    const auto middle = text->find('\n', text->size() / 2);
    if (middle != std::string::npos)
        static_cast<void>(write_file_atomically(file, text->substr(middle + 1)));
}

}  // namespace

bool changes_something(std::string_view command) {
    constexpr auto kChanging = std::to_array<std::string_view>(
        {"create", "install", "update", "remove", "rename", "rollback", "repair", "env",
         "sync",   "pin",     "unpin",  "lock",   "clean",  "config",   "init",   "build",
         "redist", "index",   "keys",   "mirror", "module", "image",    "pack",   "deploy"});
    return std::ranges::find(kChanging, command) != kChanging.end();
}

void log_command(const Config& config, const LoggedCommand& entry) {
    const auto file = log_file(config);
    std::error_code code;
    fs::create_directories(file.parent_path(), code);
    const Json line{{"time", entry.time},
                    {"command", entry.command},
                    {"prefix", entry.prefix},
                    {"status", entry.status},
                    {"seconds", entry.seconds},
                    {"error", entry.error}};
    const auto text = json_text(line) + "\n";
    // One write: lines of commands that run at the same time do not mix.
    const int descriptor = ::open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor < 0) return;
    const bool is_written = ::write(descriptor, text.data(), text.size()) > 0;
    ::close(descriptor);
    if (is_written && fs::file_size(file, code) > kMostBytes && !code) drop_older_half(file);
}

std::vector<LoggedCommand> logged_commands(const Config& config) {
    std::vector<LoggedCommand> entries;
    const auto text = read_file(log_file(config));
    if (!text) return entries;
    std::size_t begin = 0;
    while (begin < text->size()) {
        const auto end = std::min(text->find('\n', begin), text->size());
        const auto line = Json::parse(text->substr(begin, end - begin), nullptr, false);
        begin = end + 1;
        if (!line.is_object()) continue;
        try {
            entries.push_back({line.value("time", ""),
                               line.value("command", ""),
                               line.value("prefix", ""),
                               line.value("status", 0),
                               line.value("seconds", 0.0),
                               line.value("error", "")});
        } catch (const Json::exception&) {
            continue;
        }
    }
    return entries;
}

}  // namespace gpkg::cli
