#include "libcore/module/module_tree.hpp"

#include "libcore/base/text.hpp"
#include "libcore/hardware/accelerator.hpp"
#include "libcore/hardware/variant_columns.hpp"
#include "libcore/module/modulefile_internal.hpp"
#include "libcore/spec/microarchitecture.hpp"
#include "libcore/spec/spec_text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <set>
#include <system_error>

namespace gpkg {
namespace {

constexpr std::string_view kCore = "Core";
constexpr std::string_view kDefaultMark = "## gpkg module default 1";
constexpr std::size_t kLongestModule = std::size_t{1} << 20U;

fs::path file_of(const fs::path& root,
                 std::string_view room,
                 const std::string& name,
                 ModuleFormat format) {
    return root / room / (format == ModuleFormat::Lua ? name + ".lua" : name);
}

std::string full_name(const EnvironmentModule& module) {
    return module.version.empty() ? module.name : module.name + "/" + module.version;
}

/// "ml/3" is version "3" of "ml".
std::pair<std::string, std::string> parts_of(const std::string& name) {
    const auto slash = name.rfind('/');
    if (slash == std::string::npos) return {name, ""};
    return {name.substr(0, slash), name.substr(slash + 1)};
}

fs::path default_file(const fs::path& root, std::string_view room, const std::string& name) {
    return root / room / name / ".version";
}

std::string default_text(const std::string& version) {
    return fmt::format("#%Module\n{}\nset ModulesVersion \"{}\"\n", kDefaultMark, version);
}

tl::unexpected<Error> not_ours(const fs::path& path) {
    return fail(ErrorKind::Conflict,
                fmt::format("{}: exists and was not written by gpkg", path.native()),
                "choose another name (--as) or another folder (--root)");
}

using MayReplace = std::function<Result<void>(const std::string& there)>;

/// Whether `text` is to be written: something else, which may be replaced, or nothing is there. A
/// folder there is for others to judge.
Result<bool> is_to_write(const fs::path& path,
                         const std::string& text,
                         const MayReplace& may_replace) {
    std::error_code code;
    const auto status = fs::symlink_status(path, code);
    if (!fs::exists(status) || fs::is_directory(status)) return true;
    GPKG_TRY(const auto there, read_file(path));
    if (there == text) return false;
    GPKG_CHECK(may_replace(there));
    return true;
}

/// Those from whom it is not kept can read it, whatever the umask of who writes it.
Result<void> write_to(const fs::path& root,
                      const fs::path& path,
                      const std::string& text,
                      unsigned kept_from = 0) {
    const bool is_new_tree = !is_there(root);
    GPKG_CHECK(make_folders(path.parent_path()));
    GPKG_TRY(auto file, NewFile::make(path));
    GPKG_CHECK(file.make_private());
    GPKG_CHECK(file.write(text));
    file.show_to(0444U & ~kept_from);
    file.keep_from(kept_from);
    GPKG_CHECK(file.finish(true));
    const auto open = static_cast<fs::perms>(0555U & ~kept_from);
    for (auto folder = path.parent_path(); folder.has_relative_path();
         folder = folder.parent_path()) {
        if (folder == root && !is_new_tree) break;  // whose it is decides
        std::error_code not_ours;
        fs::permissions(folder, open, fs::perm_options::add, not_ours);
        if (folder == root) break;
    }
    return {};
}

/// Whether a module can be at `path`: what is a folder there, or a file on the way to it, has to
/// go with the former modules of the same environment.
Result<void> check_way(const fs::path& root,
                       const fs::path& path,
                       const std::function<bool(const fs::path&)>& is_former) {
    const auto in_the_way = [&](const fs::path& what, std::string_view is) {
        return fail(
            ErrorKind::Conflict,
            fmt::format("module {} cannot be written: {} is {}", path.native(), what.native(), is),
            "choose another name, such as --as NAME/VERSION, or another folder with --root");
    };
    std::error_code code;
    for (auto folder = path.parent_path(); folder != root && folder.has_relative_path();
         folder = folder.parent_path()) {
        const auto status = fs::status(folder, code);
        if (fs::exists(status) && !fs::is_directory(status) && !is_former(folder))
            return in_the_way(folder, "a file");
    }
    if (!fs::is_directory(fs::symlink_status(path, code))) return {};
    for (fs::recursive_directory_iterator item(path, code), end; !code && item != end;
         item.increment(code)) {
        std::error_code ignored;
        if (item->is_directory(ignored) || is_former(item->path())) continue;
        const auto text = read_file(item->path(), kLongestModule);
        const bool is_default = item->path().filename() == ".version" && text &&
                                text->find(kDefaultMark) != std::string::npos;
        if (!is_default) return in_the_way(path, "a folder of other modules");
    }
    if (code)
        return fail(ErrorKind::Io,
                    fmt::format("{}: cannot list: {}", path.native(), code.message()));
    return {};
}

/// Whether the module that is there may be replaced by one of `origin`.
Result<void> may_take(const fs::path& path,
                      const std::string& there,
                      const ModuleOrigin& origin,
                      const std::vector<ModuleFile>& before) {
    const auto other = origin_of_modulefile(there);
    if (!other) return not_ours(path);
    const auto known = std::find_if(
        before.begin(), before.end(), [&](const auto& file) { return file.path == path; });
    if (other->is_of_same(origin) || (known != before.end() && known->is_gone)) return {};
    auto name = (origin.image.empty() ? origin.prefix : origin.image).stem().native();
    if (name == path.parent_path().filename()) name = "NAME";
    return fail(
        ErrorKind::Conflict,
        fmt::format("{}: already the module of {}", path.native(), other->prefix.native()),
        fmt::format("choose another name: --as {}/1; one name can serve different drivers or CPU "
                    "levels, but not two generations of GPUs",
                    name));
}

/// What Environment Modules takes for a variant or a version that is asked for, Lmod does not.
Result<void> check_name_for(const std::vector<ModuleFormat>& formats, const std::string& name) {
    const auto odd = name.find_first_of("+=@");
    if (odd == std::string::npos ||
        std::find(formats.begin(), formats.end(), ModuleFormat::Tcl) == formats.end())
        return {};
    return fail(
        ErrorKind::Usage,
        fmt::format(
            "'{}' is not a valid name for Environment Modules: it contains '{}'", name, name[odd]),
        "choose another name (--as or the setting module_name), or write for Lmod only: --format "
        "lua");
}

/// Folders that have become empty, up to the room.
void remove_empty_folders(const fs::path& root, fs::path folder) {
    std::error_code code;
    while (folder != root && fs::is_empty(folder, code) && !code && fs::remove(folder, code))
        folder = folder.parent_path();
}

}  // namespace

std::string module_room(const std::vector<PackageRecord>& packages) {
    std::set<Accelerator> needed;
    int level = 1;
    for (const auto& record : packages) {
        for (const auto& text : record.depends) {
            if (text.find("when=") != std::string::npos) continue;  // others do without
            const auto vendor = vendor_of_virtual_package(name_in_spec(text));
            if (vendor) needed.insert(*vendor);
        }
        const auto cpu = variant_columns(record).cpu;
        level = std::max(level, x86_64_level(cpu).value_or(1));
    }
    std::string room(needed.empty() ? "" : to_string(*needed.begin()));
    if (level > 1) room += fmt::format("{}x86_64_v{}", room.empty() ? "" : "-", level);
    return room.empty() ? std::string(kCore) : room;
}

Result<void> check_module_name(std::string_view name) {
    const auto refused = [&](std::string_view why) {
        return fail(ErrorKind::Usage,
                    fmt::format("'{}' is not a valid module name: {}", printable(name), why));
    };
    const auto is_odd = [](char c) {
        return static_cast<unsigned char>(c) <= ' ' ||
               std::string_view("\"'\\$*?[]{}();&|<>`~#:,").find(c) != std::string_view::npos;
    };
    if (std::any_of(name.begin(), name.end(), is_odd))
        return refused("it contains a character that is special to shells or module systems");
    if (split(name, '/').front() == "gpkg")
        return refused("'gpkg' is reserved for the module that lists the others; use --as");
    for (const auto part : split(name, '/')) {
        if (part.empty()) return refused("a part is empty");
        if (part.front() == '.' || part.front() == '-' || part.front() == '@')
            return refused(fmt::format("a part begins with '{}'", part.front()));
        if (part == "default" || part.ends_with(".lua"))
            return refused(fmt::format("'{}' is reserved by module systems", part));
    }
    return {};
}

Result<std::string> module_name_of(std::string_view name_template,
                                   const std::map<std::string, std::string>& values,
                                   const std::vector<PackageRecord>& packages) {
    std::string name;
    for (std::size_t i = 0; i < name_template.size(); ++i) {
        const auto end = name_template[i] == '{' ? name_template.find('}', i) : i;
        if (name_template[i] != '{' || end == std::string_view::npos) {
            name += name_template[i];
            continue;
        }
        const auto word = name_template.substr(i + 1, end - i - 1);
        i = end;
        if (const auto value = values.find(std::string(word)); value != values.end()) {
            name += value->second;
            continue;
        }
        const auto package = std::find_if(packages.begin(),
                                          packages.end(),
                                          [&](const auto& record) { return record.name == word; });
        if (package == packages.end()) {
            std::vector<std::string> known;
            known.reserve(values.size());
            for (const auto& [key, value] : values) known.push_back("{" + key + "}");
            return fail(
                ErrorKind::Usage,
                fmt::format("the template '{}' needs the version of {}, which is not installed",
                            name_template,
                            word),
                fmt::format("besides installed packages, use {}", join_or(known)));
        }
        name += package->version;
    }
    GPKG_CHECK(check_module_name(name));
    return name;
}

Result<std::vector<ModuleFile>> module_files(const fs::path& root) {
    std::vector<ModuleFile> files;
    std::error_code code;
    fs::recursive_directory_iterator item(
        root, fs::directory_options::skip_permission_denied, code);
    if (code == std::errc::no_such_file_or_directory) return files;
    for (; !code && item != fs::recursive_directory_iterator(); item.increment(code)) {
        std::error_code ignored;
        const auto relative = item->path().lexically_relative(root).native();
        const auto slash = relative.find('/');
        if (slash == std::string::npos || !item->is_regular_file(ignored)) continue;
        const auto text = read_file(item->path(), kLongestModule);

        auto origin = text ? origin_of_modulefile(*text) : std::nullopt;
        if (!origin) continue;
        ModuleFile file;
        file.path = item->path();
        file.room = relative.substr(0, slash);
        file.name = relative.substr(slash + 1);
        file.origin = *std::move(origin);
        if (file.name.ends_with(".lua")) {
            file.name.resize(file.name.size() - 4);
        } else {
            file.format = ModuleFormat::Tcl;
        }
        files.push_back(std::move(file));
    }
    if (code)
        return fail(ErrorKind::Io,
                    fmt::format("{}: cannot list: {}", root.native(), code.message()));
    std::sort(
        files.begin(), files.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
    return files;
}

bool has_its_readers(const fs::path& file, unsigned kept_from) {
    std::error_code code;
    const auto mode = static_cast<unsigned>(fs::status(file, code).permissions());
    return code || ((mode & kept_from) == 0 && (mode | kept_from | 0333U) == 0777U);
}

ModuleTexts texts_of(const std::string& room, const EnvironmentModule& module) {
    ModuleTexts texts{room, full_name(module), module.origin, {}};
    for (const auto format : {ModuleFormat::Lua, ModuleFormat::Tcl})
        texts.texts[format] = modulefile(module, format);
    return texts;
}

Result<ModuleChange> write_module(const fs::path& root,
                                  const ModuleTexts& module,
                                  const std::vector<ModuleFormat>& formats,
                                  const std::vector<ModuleFile>& before) {
    GPKG_CHECK(check_name_for(formats, module.name));
    std::vector<const ModuleFile*> formers;
    bool was_default = false;
    for (const auto& file : before) {
        if (!file.origin.is_of_same(module.origin) ||
            (file.room == module.room && file.name == module.name) ||
            std::find(formats.begin(), formats.end(), file.format) == formats.end())
            continue;
        const auto [old_name, old_version] = parts_of(file.name);
        const auto there = read_file(default_file(root, file.room, old_name));
        was_default = was_default || (there && *there == default_text(old_version));
        formers.push_back(&file);
    }
    const auto is_former = [&](const fs::path& path) {
        return std::any_of(
            formers.begin(), formers.end(), [&](const auto* file) { return file->path == path; });
    };
    std::vector<std::pair<fs::path, const std::string*>> texts;
    for (const auto format : formats) {
        const auto path = file_of(root, module.room, module.name, format);
        const auto& text = module.texts.at(format);
        GPKG_CHECK(check_way(root, path, is_former));
        GPKG_TRY(const auto is_new, is_to_write(path, text, [&](const std::string& there) {
                     return may_take(path, there, module.origin, before);
                 }));
        if (is_new || !has_its_readers(path, module.kept_from)) texts.emplace_back(path, &text);
    }
    ModuleChange change;
    for (const auto* file : formers) {
        GPKG_CHECK(remove_module(root, *file));
        change.removed.push_back(file->path);
    }
    for (const auto& [path, text] : texts) {
        GPKG_CHECK(write_to(root, path, *text, module.kept_from));
        change.written.push_back(path);
    }
    if (was_default && !parts_of(module.name).second.empty())
        GPKG_CHECK(make_default(root, module.room, module.name));
    return change;
}

Result<ModuleChange> write_module_entry(const ModuleEntry& entry,
                                        std::string_view version,
                                        const std::vector<ModuleFormat>& formats) {
    ModuleChange change;
    for (const auto format : formats) {
        const auto path = file_of(entry.root, kCore, fmt::format("gpkg/{}", version), format);
        const auto text = entry_modulefile(entry, format);
        const auto may_replace = [&](const std::string& there) -> Result<void> {
            if (std::string_view(there).substr(0, 64).find(entry_line()) == std::string_view::npos)
                return not_ours(path);
            return {};
        };
        GPKG_TRY(const auto is_new, is_to_write(path, text, may_replace));
        if (!is_new) continue;
        GPKG_CHECK(write_to(entry.root, path, text));
        change.written.push_back(path);
    }
    return change;
}

Result<void> make_default(const fs::path& root, const std::string& room, const std::string& full) {
    const auto [name, version] = parts_of(full);
    if (version.empty())
        return fail(
            ErrorKind::Usage,
            fmt::format("{}: --default needs a name with a version, such as NAME/1.0", name));
    const auto path = default_file(root, room, name);
    const auto text = default_text(version);
    const auto may_replace = [&](const std::string& there) -> Result<void> {
        if (there.find(kDefaultMark) == std::string::npos) return not_ours(path);
        return {};
    };
    GPKG_TRY(const auto is_new, is_to_write(path, text, may_replace));
    if (!is_new) return {};
    return write_to(root, path, text);
}

Result<void> remove_module(const fs::path& root, const ModuleFile& file) {
    std::error_code code;
    fs::remove(file.path, code);
    if (code)
        return fail(ErrorKind::Io,
                    fmt::format("{}: cannot remove: {}", file.path.native(), code.message()));
    const auto [name, version] = parts_of(file.name);
    const auto other =
        file_of(root,
                file.room,
                file.name,
                file.format == ModuleFormat::Lua ? ModuleFormat::Tcl : ModuleFormat::Lua);
    const auto path = default_file(root, file.room, name);
    const auto there = read_file(path);
    if (there && *there == default_text(version) && !fs::exists(other, code))
        fs::remove(path, code);
    remove_empty_folders(root, file.path.parent_path());
    return {};
}

}  // namespace gpkg
