#include "cli/workflow/record_text.hpp"

#include "libcore/hardware/accelerator.hpp"
#include "libcore/net/url.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gpkg::cli {

std::string record_title(const PackageRecord& record) {
    return fmt::format("{} {} {}", record.name, record.version, record.build);
}

std::string accelerator_remark(const PackageRecord& record) {
    const auto found = accelerator_of(record);
    if (found.evidence.empty() || found.is_for_either) return "";
    return fmt::format(" ({} build)", compute_platform(found.accelerator));
}

std::string transition(const std::string& before, const std::string& after) {
    return before == after ? after : fmt::format("{} -> {}", before, after);
}

std::string short_channel(const std::string& url) {
    if (url.starts_with("file://")) return url.substr(7);
    const auto slash = url.rfind('/');
    return slash == std::string::npos ? url : url.substr(slash + 1);
}

nlohmann::ordered_json record_json(const PackageRecord& record) {
    return {{"name", record.name},
            {"version", record.version},
            {"build", record.build},
            {"build_string", record.build},
            {"build_number", record.build_number},
            {"channel", without_secrets(record.channel)},
            {"base_url", without_secrets(record.channel)},
            {"subdir", record.subdir},
            {"platform", record.subdir},
            {"dist_name", record.distribution()},
            {"fn", record.fn},
            {"url", without_secrets(record.url)},
            {"md5", record.md5},
            {"sha256", record.sha256},
            {"size", record.size},
            {"timestamp", record.timestamp},
            {"depends", record.depends},
            {"constrains", record.constrains}};
}

}  // namespace gpkg::cli
