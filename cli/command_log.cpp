#include "cli/command_log.hpp"

#include "libcore/base/json_text.hpp"
#include "libcore/base/number.hpp"
#include "libcore/fs/process_identity.hpp"

#include <algorithm>
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
    if (entry.is_cancelled) return "cancelled";
    if (entry.status) return fmt::format("exit status {}", *entry.status);
    const auto process = whole_number<pid_t>(entry.id.substr(entry.id.rfind('-') + 1));
    const bool is_running =
        process && !is_gone(*process) &&
        entry.id == fmt::format("{}-{}-{}", process_world(), process_start(*process), *process);
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
                    {"cancelled", entry.is_cancelled}};
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
                 line.value("error", ""),
                 line.value("cancelled", false)});
        } catch (const Json::exception&) {
            continue;
        }
    }
    return entries;
}

}  // namespace gpkg::cli
