#include "libcore/base/digest.hpp"
#include "libcore/base/text.hpp"
#include "virtual-packages/cuda_internal.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <sys/stat.h>
#include <system_error>

namespace gpkg::virtual_packages {
namespace {

using std::chrono::duration_cast;
using std::chrono::seconds;

constexpr std::string_view kFormat = "gpkg-cuda-cache 1";
/// A day: long enough to spare the driver, short enough for what no key can see.
constexpr seconds kLifetime{24 * 60 * 60};
/// A clock that was set back would keep an answer too long.
constexpr seconds kMostAhead{5 * 60};

std::vector<std::string> sorted_names(const fs::path& folder, std::string_view prefix) {
    std::vector<std::string> names;
    std::error_code code;
    for (fs::directory_iterator entry(folder, code), end; !code && entry != end;
         entry.increment(code))
        if (auto name = entry->path().filename().native(); name.starts_with(prefix))
            names.push_back(std::move(name));
    std::ranges::sort(names);
    return names;
}

std::string text_of(const fs::path& path) { return read_file(path).value_or(std::string()); }

/// Path, time and size: a driver that was updated is another file.
std::string stamp(const fs::path& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return {};
    return fmt::format("{} {}.{} {}",
                       path.native(),
                       status.st_mtim.tv_sec,
                       status.st_mtim.tv_nsec,
                       status.st_size);
}

fs::path cache_file(const Host& host, const std::string& key) {
    return host.cuda.cache_folder / ("cuda-" + key.substr(0, 16) + ".txt");
}

std::int64_t seconds_now(const Host& host) {
    return duration_cast<seconds>(host.now().time_since_epoch()).count();
}

bool is_fresh(std::int64_t written, std::int64_t now) {
    return written <= now + kMostAhead.count() && now - written < kLifetime.count();
}

/// Answers of other boots and nodes that shared this folder.
void remove_expired(const Host& host) {
    for (const auto& name : sorted_names(host.cuda.cache_folder, "cuda-")) {
        const auto path = host.cuda.cache_folder / name;
        struct stat status {};
        if (!name.ends_with(".txt") || ::stat(path.c_str(), &status) != 0) continue;
        std::error_code ignored;
        if (seconds_now(host) - status.st_mtim.tv_sec >= kLifetime.count())
            fs::remove(path, ignored);
    }
}

}  // namespace

std::vector<fs::path> library_files(const Host& host, std::string_view library) {
    std::vector<fs::path> found;
    const auto consider = [&](const fs::path& path) {
        const auto here = host.root / path.relative_path();
        std::error_code code;
        if (path.is_absolute() && fs::exists(here, code) &&
            std::ranges::find(found, here) == found.end())
            found.push_back(here);
    };
    if (library.find('/') != std::string_view::npos) {
        consider(library);
        return found;
    }
    const auto search_path = host.env("LD_LIBRARY_PATH").value_or("");
    for (const auto folder : split(search_path, ':'))
        if (!folder.empty()) consider(fs::path(folder) / library);

    // ld.so.cache holds the paths as texts that end in a NUL.
    const auto cache = text_of(host.root / "etc/ld.so.cache");
    std::string wanted = "/";
    wanted.append(library).push_back('\0');
    for (auto at = cache.find(wanted); at != std::string::npos; at = cache.find(wanted, at + 1)) {
        const auto before = cache.rfind('\0', at);
        const auto start = before == std::string::npos ? 0 : before + 1;
        consider(cache.substr(start, at + wanted.size() - 1 - start));
    }
    for (const auto* folder : {"/lib", "/usr/lib", "/lib64", "/usr/lib64"})
        consider(fs::path(folder) / library);
    return found;
}

std::optional<std::string> cuda_cache_key(const Host& host) {
    const auto boot = text_of(host.root / "proc/sys/kernel/random/boot_id");
    if (trim(boot).empty()) return std::nullopt;
    auto facts = fmt::format("boot {}\n", trim(boot));
    for (const auto* file : {"proc/driver/nvidia/version", "sys/module/nvidia/version"})
        facts += fmt::format("{} {}\n", file, text_of(host.root / file));
    for (const auto& gpu : sorted_names(host.root / "proc/driver/nvidia/gpus", ""))
        facts += fmt::format("gpu {}\n", gpu);
    for (const auto& device : sorted_names(host.root / "dev", "nvidia"))
        facts += fmt::format("device {}\n", device);
    for (const auto& library : host.cuda.libraries)
        for (const auto& file : library_files(host, library))
            facts += fmt::format("library {}\n", stamp(file));
    facts += fmt::format("search {}\n", host.env("LD_LIBRARY_PATH").value_or(""));
    // A batch system hides devices from a job by its control group, and from nothing else.
    facts += fmt::format("group {}\n", text_of(host.root / "proc/self/cgroup"));
    return hex_digest(DigestKind::Sha256, facts);
}

std::optional<std::string> read_cuda_cache(const Host& host, const std::string& key) {
    const auto text = read_file(cache_file(host, key));
    if (!text) return std::nullopt;
    const auto lines = split(*text, '\n');
    if (lines.size() < 4 || lines[0] != kFormat || lines[1] != "key " + key) return std::nullopt;
    if (!lines[2].starts_with("written ")) return std::nullopt;
    const auto number = lines[2].substr(8);
    std::int64_t written = 0;
    const auto [end, code] = std::from_chars(number.data(), number.data() + number.size(), written);
    if (code != std::errc() || end != number.data() + number.size()) return std::nullopt;
    if (!is_fresh(written, seconds_now(host))) return std::nullopt;
    const auto head = lines[0].size() + lines[1].size() + lines[2].size() + 3;
    return text->substr(head);
}

void write_cuda_cache(const Host& host, const std::string& key, std::string_view probe_text) {
    const auto text =
        fmt::format("{}\nkey {}\nwritten {}\n{}", kFormat, key, seconds_now(host), probe_text);
    // A cache that cannot be written costs the next command the same time again, nothing else.
    if (write_file_atomically(cache_file(host, key), text)) remove_expired(host);
}

}  // namespace gpkg::virtual_packages
