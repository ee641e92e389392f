#include "cli/command_log.hpp"

#include "cli/command.hpp"
#include "libcore/base/json_text.hpp"
#include "libcore/base/number.hpp"
#include "libcore/base/text.hpp"
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

/// A process of this machine and boot; its start tells it from a later one of the same number.
std::string log_id(pid_t process) {
    return fmt::format("{}-{}-{}", process_world(), process_start(process), process);
}

void drop_older_half(const fs::path& file) {
    const auto text = read_file(file);
    if (!text) return;
    const auto middle = text->find('\n', text->size() / 2);
    if (middle != std::string::npos)
        static_cast<void>(write_file_atomically(file, text->substr(middle + 1)));
}

/// Nothing for a damaged line.
std::optional<LoggedCommand> read_entry(std::string_view text) {
    const auto line = Json::parse(text, nullptr, false);
    if (!line.is_object()) return std::nullopt;
    try {
        LoggedCommand entry{line.value("id", ""),
                            line.value("time", ""),
                            line.value("command", ""),
                            line.value("prefix", "")};
        const auto status = line.find("status");
        if (status != line.end() && !status->is_null()) entry.status = status->get<int>();
        entry.seconds = line.value("seconds", 0.0);
        entry.error = line.value("error", "");
        entry.folder = line.value("folder", "");
        entry.is_cancelled = line.value("cancelled", false);
        entry.changes = line.value("changes", false);
        return entry;
    } catch (const Json::exception&) {
        return std::nullopt;
    }
}

/// The command line that repeats a command, whose files may have relative paths.
std::string command_to_repeat(const LoggedCommand& entry) {
    std::error_code code;
    const bool is_elsewhere =
        fs::is_directory(entry.folder, code) && entry.folder != fs::current_path(code);
    return is_elsewhere ? fmt::format("cd {} && {}", shell_word(entry.folder), entry.command)
                        : entry.command;
}

}  // namespace

bool removes_environment(const LoggedCommand& entry) {
    return entry.command.starts_with("gpkg env remove ") ||
           (entry.command.starts_with("gpkg remove ") &&
            entry.command.find(" --all") != std::string::npos);
}

bool may_create(const LoggedCommand& entry) {
    constexpr auto kCreating =
        std::to_array<std::string_view>({"gpkg create ", "gpkg env create ", "gpkg sync "});
    return std::ranges::any_of(kCreating,
                               [&](auto command) { return entry.command.starts_with(command); });
}

std::string own_log_id() { return log_id(::getpid()); }

std::string outcome_of(const LoggedCommand& entry) {
    if (entry.status == 0) return "";
    if (entry.is_cancelled) return "cancelled";
    if (entry.status) return fmt::format("exit status {}", *entry.status);
    const auto process = whole_number<pid_t>(entry.id.substr(entry.id.rfind('-') + 1));
    const bool is_running = process && !is_gone(*process) && entry.id == log_id(*process);
    return is_running ? "running" : "did not finish";
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
                    {"error", entry.error},
                    {"folder", entry.folder},
                    {"cancelled", entry.is_cancelled},
                    {"changes", entry.changes}};
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
    const auto text = read_file(log_file(config));
    if (!text) return entries;
    for (const auto line : split(*text, '\n')) {
        auto entry = read_entry(line);
        if (!entry) continue;
        const auto [known, is_new] = index_of.try_emplace(entry->id, entries.size());
        if (is_new || entry->id.empty())
            entries.push_back(*std::move(entry));
        else
            entries[known->second] = *std::move(entry);
    }
    std::erase_if(entries, [](const auto& entry) { return entry.status == kWrongUsage; });
    return entries;
}

std::string interrupted_creation(const Config& config, const fs::path& prefix) {
    auto entries = logged_commands(config);
    std::erase_if(entries, [&](const auto& entry) {
        return entry.prefix != prefix.native() || !may_create(entry);
    });
    // A creation that failed or was undone since has told its user so.
    if (entries.empty() || entries.back().status || outcome_of(entries.back()) == "running")
        return {};
    return command_to_repeat(entries.back());
}

std::string creation_of_removed(const Config& config, const fs::path& prefix) {
    auto entries = logged_commands(config);
    std::erase_if(entries, [&](const auto& entry) {
        return entry.prefix != prefix.native() || entry.status != 0;
    });
    if (entries.empty() || !removes_environment(entries.back())) return {};
    const auto creation = std::find_if(entries.rbegin(), entries.rend(), may_create);
    return creation == entries.rend() ? "" : command_to_repeat(*creation);
}

}  // namespace gpkg::cli
