#include "libcore/image/pack.hpp"

#include "libcore/base/text.hpp"
#include "libcore/env/placeholder.hpp"
#include "libcore/env/shell.hpp"
#include "libcore/fs/temporary.hpp"
#include "libcore/image/laid_out_tar_internal.hpp"
#include "libcore/image/pack_internal.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

namespace gpkg {
namespace {

constexpr std::string_view kPack = "conda-meta/gpkg/pack";
constexpr std::string_view kHistory = "conda-meta/history";

/// Whether the first line names an interpreter that begins with the placeholder.
Result<bool> has_shebang(const LaidOutFile& file) {
    bool found = false;
    const auto look = [&](std::string_view text) {
        const auto line = text.substr(0, text.find('\n'));
        found = line.starts_with("#!") && line.find(file.placeholder) != std::string_view::npos;
        return false;
    };
    if (file.source.empty())
        look(file.content);
    else
        GPKG_CHECK(read_in_pieces(
            file.source, 0, [&](std::string_view piece, std::uint64_t) { return look(piece); }));
    return found;
}

struct Variable {
    std::string value;
    std::string placeholder;  ///< what stands in the value for the prefix; empty: nothing
};

/// Puts what is handed over into the archive, and remembers what has to be relocated.
class Packer {
public:
    explicit Packer(TarStream& tar) : tar_(tar) {}

    Result<void> add(const LaidOutFile& file);
    /// The lists and scripts, once everything else is in.
    Result<void> finish(const Transaction& environment);
    std::vector<std::string> take_warnings() { return std::move(warnings_); }

private:
    using Type = LaidOutFile::Type;

    Result<void> note(const LaidOutFile& file);
    void take_variables(const LaidOutFile& file, const std::string& json);
    Result<void> add_script(const std::string& path, unsigned mode, std::string_view text);
    std::string filled(std::string_view script, std::string_view folder, Shell shell) const;

    TarStream& tar_;
    /// Of files, by whether they are binary and what they name.
    std::map<std::pair<bool, std::string>, std::string> lists_;
    std::string shebangs_;
    std::string links_;
    std::set<std::string> scripts_;  ///< paths of ours that a package has taken
    std::map<std::string, Variable> variables_;
    std::vector<std::string> tcsh_scripts_;  ///< tcsh cannot list a folder whose name has a space
    unsigned variables_kept_from_ = 0;       ///< bits of a mode
    std::uint64_t history_size_ = 0;
    std::vector<std::string> warnings_;
};

constexpr std::string_view kRelocate = "bin/gpkg-relocate";

struct ActivateScript {
    std::string_view path;
    std::string_view text;
    Shell shell;
};
std::array<ActivateScript, 3> activate_scripts() {
    return {{{"bin/activate", kActivateSh, Shell::Bash},
             {"bin/activate.fish", kActivateFish, Shell::Fish},
             {"bin/activate.csh", kActivateCsh, Shell::Tcsh}}};
}

Result<void> Packer::note(const LaidOutFile& file) {
    if (file.path.find_first_of("\n\t") != std::string::npos ||
        file.placeholder.find_first_of("\n\t") != std::string::npos)
        return fail(
            ErrorKind::Unsupported,
            fmt::format("{}: has the prefix in it, but its name contains a tab or a line break",
                        printable(file.path)),
            "use gpkg image build: an image is not relocated");
    if (file.type == Type::SoftLink) {
        links_ += fmt::format("{}\t{}\n", file.placeholder, file.path);
        return {};
    }
    lists_[{file.binary, file.placeholder}] += file.path + '\0';
    if (file.binary) {
        GPKG_TRY(const bool wide, names_in_wide_characters(file.source, file.placeholder));
        if (wide)
            warnings_.push_back(fmt::format(
                "{}: has the prefix in wide characters, which bin/gpkg-relocate cannot replace",
                file.path));
        return {};
    }
    GPKG_TRY(const bool starts, has_shebang(file));
    if (starts) shebangs_ += file.path + '\0';
    return {};
}

/// A value in the words of a shell, with "$CONDA_PREFIX" for the placeholder: where the environment
/// will be is known only there.
std::string shell_value(std::string_view value, std::string_view placeholder, Shell shell) {
    const auto at = placeholder.empty() ? value.npos : value.find(placeholder);
    if (at == value.npos) return shell_quoted(value, shell);
    const auto rest = value.substr(at + placeholder.size());
    return (at == 0 ? "" : shell_quoted(value.substr(0, at), shell)) + "\"$CONDA_PREFIX\"" +
           (rest.empty() ? "" : shell_value(rest, placeholder, shell));
}

/// What a script does about a variable: of `folder` activate.d it keeps the old value and sets the
/// new one. tcsh looks a variable up even where a condition is false, but for what eval gets.
std::string variable_lines(const std::string& name,
                           const Variable& variable,
                           std::string_view folder,
                           Shell shell) {
    const auto value = shell_value(variable.value, variable.placeholder, shell);
    const auto old = "_GPKG_PACK_OLD_" + name;
    if (shell == Shell::Fish) return fmt::format("_gpkg_keep {0}\nset -gx {0} {1}\n", name, value);
    if (shell != Shell::Tcsh) return fmt::format("_gpkg_keep {0}\nexport {0}={1}\n", name, value);
    if (folder == "activate.d")
        return fmt::format(
            "if ( $?{0} ) eval 'set {1} = ${0}:q'\nsetenv {0} {2}\n", name, old, value);
    return fmt::format(
        "unsetenv {0}\nif ( $?{1} ) eval 'setenv {0} ${1}:q; unset {1}'\n", name, old);
}

/// What a package sets when the environment is activated.
void Packer::take_variables(const LaidOutFile& file, const std::string& json) {
    const auto document = nlohmann::json::parse(json, nullptr, false);
    if (!document.is_object()) return;
    for (const auto& [name, value] : document.items()) {
        if (value.is_string()) variables_[name] = {value.get<std::string>(), file.placeholder};
    }
}

Result<void> Packer::add(const LaidOutFile& file) {
    if (file.path.starts_with("bin/")) scripts_.insert(file.path);
    if (file.path.starts_with("etc/conda/") && file.path.ends_with(".csh"))
        tcsh_scripts_.push_back(file.path);
    if (file.path == kHistory) history_size_ = file.content.size();
    if (file.path == kVariablesFile) variables_kept_from_ |= file.kept_from();
    if (file.path.starts_with("etc/conda/env_vars.d/") && !file.source.empty()) {
        GPKG_TRY(const auto text, read_file(file.source));
        take_variables(file, text);
        variables_kept_from_ |= file.kept_from();
    }
    if (file.placeholder.empty()) return add_laid_out(tar_, file, file.path);
    GPKG_CHECK(note(file));
    return add_laid_out(tar_, file, fmt::format("{}/pristine/{}", kPack, file.path));
}

Result<void> Packer::add_script(const std::string& path, unsigned mode, std::string_view text) {
    if (!scripts_.contains(path)) return tar_.add_text(path, mode, text);
    // Without this one the archive is of no use.
    if (path == kRelocate)
        return fail(ErrorKind::Conflict,
                    fmt::format("{}: a package already has a file of this name", path));
    warnings_.push_back(
        fmt::format("{}: belongs to a package and is kept; run bin/gpkg-relocate by hand", path));
    return {};
}

Result<void> Packer::finish(const Transaction& environment) {
    const auto add = [&](std::string_view name, std::string_view text) {
        return tar_.add_text(fmt::format("{}/{}", kPack, name), 0644, text);
    };
    std::string groups;
    std::size_t number = 0;
    for (const auto& [group, files] : lists_) {
        const auto& [binary, placeholder] = group;
        groups += fmt::format("{} {} {}\n", ++number, binary ? "binary" : "text", placeholder);
        GPKG_CHECK(add(fmt::format("{}.list", number), files));
    }
    GPKG_CHECK(add("groups", groups));
    GPKG_CHECK(add("shebangs.list", shebangs_));
    GPKG_CHECK(add("links.list", links_));
    GPKG_CHECK(add("history-size", fmt::format("{}\n", history_size_)));
    GPKG_CHECK(add_script(std::string(kRelocate), 0755, kRelocateScript));

    for (const auto& [name, value] : environment.variables) {
        if (value) variables_[name] = {*value, ""};
    }
    for (const auto& [path, script, shell] : activate_scripts())
        GPKG_CHECK(add_script(
            std::string(path), 0755U & ~variables_kept_from_, filled(script, "activate.d", shell)));
    return tar_.add_text(fmt::format("{}/deactivate.csh", kPack),
                         0644U & ~variables_kept_from_,
                         filled(kDeactivateCsh, "deactivate.d", Shell::Tcsh));
}

/// A script with what it does about the variables and, for tcsh, about the scripts of packages.
std::string Packer::filled(std::string_view script, std::string_view folder, Shell shell) const {
    std::string variables;
    for (const auto& [name, variable] : variables_)
        variables += variable_lines(name, variable, folder, shell);
    auto paths = tcsh_scripts_;
    std::sort(paths.begin(), paths.end());
    if (folder == "deactivate.d") std::reverse(paths.begin(), paths.end());
    std::string sources;
    for (const auto& path : paths) {
        if (path.starts_with(fmt::format("etc/conda/{}/", folder)))
            sources += fmt::format("source \"$CONDA_PREFIX\"{}\n", shell_quoted("/" + path, shell));
    }
    const auto text = replace_all(script, "# variables\n", variables);
    return shell == Shell::Tcsh ? replace_all(text, "# scripts\n", sources) : text;
}

/// Its first two lines tell a script of any version.
std::string_view start_of(std::string_view script) {
    return script.substr(0, script.find('\n', script.find('\n') + 1) + 1);
}

}  // namespace

std::vector<std::string> scripts_of_pack(const fs::path& prefix) {
    std::vector<std::string> scripts;
    if (!is_there(prefix / kPack)) return scripts;
    const auto add = [&](std::string_view path, std::string_view script) {
        const auto text = read_file(prefix / path);
        if (text && text->starts_with(start_of(script))) scripts.emplace_back(path);
    };
    add(kRelocate, kRelocateScript);
    for (const auto& [path, script, shell] : activate_scripts()) add(path, script);
    return scripts;
}

Result<std::vector<std::string>> write_pack(const Transaction& environment,
                                            const fs::path& archive,
                                            const PackOptions& options) {
    remove_dead_temporaries_of(archive);
    GPKG_TRY(auto output, NewFile::make(archive));
    GPKG_CHECK(output.make_private());
    TarStreamOptions how;
    how.time = options.time;
    how.compression = TarCompression::Zstd;
    how.level = options.zstd_level;
    how.cancelled = options.layout.transaction.cancelled;
    const auto sink = [&](std::string_view bytes) { return output.write(bytes); };
    GPKG_TRY(auto tar, TarStream::open(sink, how));
    Packer packer(tar);
    auto layout = options.layout;
    layout.relocatable = true;
    unsigned kept_from = 0;
    GPKG_TRY(auto warnings, lay_out(environment, layout, [&](const LaidOutFile& file) {
                 kept_from |= file.kept_from();
                 return packer.add(file);
             }));
    GPKG_CHECK(packer.finish(environment));
    GPKG_CHECK(tar.close());
    output.keep_from(kept_from);
    GPKG_CHECK(output.finish(true));
    for (auto& warning : packer.take_warnings()) warnings.push_back(std::move(warning));
    return warnings;
}

}  // namespace gpkg
