#include "libcore/env/link_plan_internal.hpp"
#include "libcore/env/placeholder.hpp"
#include "libcore/package/info.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <unordered_set>

namespace gpkg {
namespace {

LinkKind kind_of(const PathEntry& entry) {
    if (entry.type == PathType::SoftLink) return LinkKind::SoftLink;
    if (entry.type == PathType::Directory) return LinkKind::Folder;
    if (!entry.prefix_placeholder.empty()) return LinkKind::Replace;
    return entry.no_link ? LinkKind::CopyOnly : LinkKind::Link;
}

/// The kernel and the placeholder set limits that only show per file.
Result<void> check_placeholder(const PathEntry& entry,
                               const std::string& distribution,
                               const fs::path& prefix) {
    if (entry.prefix_placeholder.empty() || entry.mode != FileMode::Binary ||
        entry.type != PathType::HardLink)
        return {};
    const auto room = entry.prefix_placeholder.size();
    if (prefix.native().size() <= room) return {};
    return fail(ErrorKind::Unsupported,
                fmt::format("{}: the path is too long: {} of {} allows {} bytes, the path has {}",
                            prefix.native(),
                            entry.path,
                            distribution,
                            room,
                            prefix.native().size()),
                "choose a shorter path for the environment");
}

bool is_module_path(std::string_view path) {
    for (const auto& c : path) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || c == '_' || c == '.' ||
                           static_cast<unsigned char>(c) >= 0x80;
        if (!plain) return false;
    }
    return !path.empty();
}

Result<void> add_entry_points(PackagePlan& plan,
                              const PythonLayout& python,
                              const fs::path& prefix) {
    GPKG_TRY(const auto info, read_link_json(plan.unpacked));
    for (const auto& point : info.entry_points) {
        if (!is_safe_relative(point.command) || point.command.find('/') != std::string::npos ||
            !is_module_path(point.module) || !is_module_path(point.function))
            return fail(ErrorKind::Integrity,
                        fmt::format("{}: invalid entry point '{} = {}:{}'",
                                    plan.distribution,
                                    point.command,
                                    point.module,
                                    point.function));
        LinkItem item;
        item.kind = LinkKind::EntryPoint;
        item.target = "bin/" + point.command;
        item.content = entry_point_script(
            point.module, point.function, (prefix / python.interpreter()).native());
        item.size = item.content.size();
        plan.items.push_back(std::move(item));
    }
    return {};
}

void add_compiled(PackagePlan& plan, const PythonLayout& python) {
    std::unordered_set<std::string> shipped;
    for (const auto& item : plan.items) shipped.insert(item.target);
    const auto count = plan.items.size();
    for (std::size_t i = 0; i < count; ++i) {
        const auto& entry = plan.items[i].entry;
        if (entry == nullptr || entry->type == PathType::Directory ||
            !entry->path.starts_with("site-packages/") || !entry->path.ends_with(".py"))
            continue;
        // Python is told the sources line by line.
        if (plan.items[i].target.find_first_of("\r\n") != std::string::npos) continue;
        auto compiled = pyc_path(plan.items[i].target, python);
        if (shipped.contains(compiled)) continue;
        LinkItem item;
        item.kind = LinkKind::Pyc;
        item.source = plan.items[i].target;
        item.target = std::move(compiled);
        item.size = entry->size_in_bytes;  // near enough for an estimate
        plan.items.push_back(std::move(item));
    }
}

}  // namespace

void apply(const Rewrite& rewrite, PrefixRecord& record) {
    if (rewrite.requested_specs) record.requested_specs = *rewrite.requested_specs;
    if (!rewrite.mended) return;
    record.package.depends = rewrite.mended->depends;
    record.package.constrains = rewrite.mended->constrains;
}

bool PackagePlan::brings(std::string_view path) const {
    return std::any_of(
        entries.begin(), entries.end(), [&](const auto& entry) { return entry.path == path; });
}

bool PackagePlan::links(std::string_view path) const {
    return std::any_of(items.begin(), items.end(), [&](const auto& item) {
        return item.target == path && !item.skipped;
    });
}

Result<std::string> bytes_with_prefix(const PathEntry& entry,
                                      const fs::path& file,
                                      const fs::path& prefix) {
    if (entry.mode == FileMode::Text)
        GPKG_CHECK(check_growth(file, entry.prefix_placeholder, prefix.native(), file.native()));
    GPKG_TRY(const auto bytes, read_file(file));
    if (entry.mode == FileMode::Text)
        return replace_in_text(bytes, entry.prefix_placeholder, prefix.native());
    return replace_in_binary(bytes, entry.prefix_placeholder, prefix.native(), entry.path);
}

std::string link_with_prefix(const PathEntry& entry, std::string target, const fs::path& prefix) {
    const auto& placeholder = entry.prefix_placeholder;
    if (!placeholder.empty() && target.starts_with(placeholder))
        target.replace(0, placeholder.size(), prefix.native());
    return target;
}

Result<PackagePlan> plan_package(const LinkRequest& request,
                                 const std::optional<PythonLayout>& python,
                                 const fs::path& prefix,
                                 bool compile) {
    PackagePlan plan;
    plan.request = &request;
    plan.distribution = request.record.distribution();
    plan.unpacked = request.unpacked;
    GPKG_TRY(plan.entries, read_paths(request.unpacked));
    // The record decides; packages whose record lost the field show it by their layout.
    const bool noarch_python =
        request.record.noarch == "python" ||
        (request.record.subdir == "noarch" &&
         std::any_of(plan.entries.begin(), plan.entries.end(), [](const PathEntry& entry) {
             return entry.path.starts_with("site-packages/");
         }));

    plan.items.reserve(plan.entries.size());
    for (const auto& entry : plan.entries) {
        GPKG_CHECK(check_placeholder(entry, plan.distribution, prefix));
        LinkItem item;
        item.kind = kind_of(entry);
        item.source = entry.path;
        item.entry = &entry;
        item.size = entry.size_in_bytes;
        item.target = entry.path;
        if (noarch_python && needs_python(entry.path)) {
            if (!python)
                return fail(ErrorKind::Unsatisfiable,
                            fmt::format("{}: a python package, but the environment has no python",
                                        plan.distribution),
                            "add python to the requested packages");
            item.target = noarch_target(entry.path, *python);
        }
        // python says where its packages lie.
        GPKG_CHECK(checked_payload_path(item.target, plan.distribution));
        plan.items.push_back(std::move(item));
    }
    if (noarch_python && python) {
        GPKG_CHECK(add_entry_points(plan, *python, prefix));
        if (compile) add_compiled(plan, *python);
    }
    return plan;
}

}  // namespace gpkg
