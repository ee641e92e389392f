#include "cli/command_log.hpp"

#include "cli/command.hpp"
#include "libcore/base/json_text.hpp"
#include "libcore/base/number.hpp"
#include "libcore/fs/process_identity.hpp"

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;

/// A longer file loses its older half.
constexpr std::uintmax_t kMostBytes = 256UL * 1024;

fs::path log_file(const Config& config) { return config.own_dir / "log" / "commands.jsonl"; }

void drop_older_half(const fs::path& file) {
    const auto text = read_file(file);
    if (!text) return;
    const auto middle = text->find('\n', text->size() / 2);
    if (middle != std::string::npos)
        static_cast<void>(write_file_atomically(file, text->substr(middle + 1)));
}

}  // namespace

std::string own_log_id() {
    const auto process = ::getpid();
    return fmt::format("{}-{}-{}", process_world(), process_start(process), process);
}

std::string outcome_of(const LoggedCommand& entry) {
    if (entry.status == 0) return "";
    if (entry.status) return fmt::format("exit status {}", *entry.status);
    const auto process = whole_number<pid_t>(entry.id.substr(entry.id.rfind('-') + 1));
    const bool is_running =
        process && !is_gone(*process) &&
        entry.id == fmt::format("{}-{}-{}", process_world(), process_start(*process), *process);
    return is_running ? "running" : "did not finish";
}

bool changes_something(std::string_view command) {
    constexpr auto kChanging = std::to_array<std::string_view>(
        {"create", "install", "update", "remove", "rename", "rollback", "repair", "env",
         "sync",   "pin",     "unpin",  "lock",   "clean",  "config",   "init",   "build",
         "redist", "index",   "keys",   "mirror", "module", "image",    "pack",   "deploy"});
    constexpr auto kReading = std::to_array<std::string_view>({"config get",
                                                               "config list",
                                                               "env config vars list",
                                                               "env export",
                                                               "env list",
                                                               "image run",
                                                               "image show",
                                                               "keys show",
                                                               "lock check",
                                                               "mirror verify",
                                                               "module check"});
    return std::ranges::find(kChanging, command.substr(0, command.find(' '))) != kChanging.end() &&
           std::ranges::find(kReading, command) == kReading.end();
}

bool passes_status_on(std::string_view command) {
    constexpr auto kRunning =
        std::to_array<std::string_view>({"run", "exec", "shell", "image run"});
    return std::ranges::find(kRunning, command) != kRunning.end();
}

void log_command(const Config& config, const LoggedCommand& entry) {
    const auto file = log_file(config);
    std::error_code code;
    fs::create_directories(file.parent_path(), code);
    const Json line{{"id", entry.id},
                    {"time", entry.time},
                    {"command", entry.command},
                    {"prefix", entry.prefix},
                    {"status", entry.status ? Json(*entry.status) : Json()},
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
    std::map<std::string, std::size_t> index_of;  // by id
    const auto add = [&](LoggedCommand entry) {
        const auto [known, is_new] = index_of.try_emplace(entry.id, entries.size());
        if (is_new || entry.id.empty())
            entries.push_back(std::move(entry));
        else
            entries[known->second] = std::move(entry);
    };
    const auto text = read_file(log_file(config));
    if (!text) return entries;
    std::size_t begin = 0;
    while (begin < text->size()) {
        const auto end = std::min(text->find('\n', begin), text->size());
        const auto line = Json::parse(text->substr(begin, end - begin), nullptr, false);
        begin = end + 1;
        if (!line.is_object()) continue;
        try {
            const auto status = line.find("status");
            const bool has_ended = status != line.end() && !status->is_null();
            add({line.value("id", ""),
                 line.value("time", ""),
                 line.value("command", ""),
                 line.value("prefix", ""),
                 has_ended ? std::optional(status->get<int>()) : std::nullopt,
                 line.value("seconds", 0.0),
                 line.value("error", "")});
        } catch (const Json::exception&) {
            continue;
        }
    }
    std::erase_if(entries, [](const auto& entry) { return entry.status == kWrongUsage; });
    return entries;
}

std::string interrupted_creation(const Config& config, const fs::path& prefix) {
    constexpr auto kCreating =
        std::to_array<std::string_view>({"gpkg create ", "gpkg env create ", "gpkg sync "});
    auto entries = logged_commands(config);
    std::erase_if(entries, [&](const auto& entry) {
        const auto creates = [&](auto command) { return entry.command.starts_with(command); };
        return entry.prefix != prefix.native() || std::ranges::none_of(kCreating, creates);
    });
    // A creation that failed or was undone since has told its user so.
    if (entries.empty() || entries.back().status || outcome_of(entries.back()) == "running")
        return {};
    return entries.back().command;
}

}  // namespace gpkg::cli
