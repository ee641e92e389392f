#include "libcore/image/pack.hpp"

#include "libcore/base/text.hpp"
#include "libcore/env/placeholder.hpp"
#include "libcore/fs/temporary.hpp"
#include "libcore/image/laid_out_tar_internal.hpp"
#include "libcore/image/pack_internal.hpp"

#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

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

    TarStream& tar_;
    /// Of files, by whether they are binary and what they name.
    std::map<std::pair<bool, std::string>, std::string> lists_;
    std::string shebangs_;
    std::string links_;
    std::set<std::string> scripts_;                 ///< paths of ours that a package has taken
    std::map<std::string, std::string> variables_;  ///< values as a shell reads them
    unsigned variables_kept_from_ = 0;              ///< bits of a mode
    std::uint64_t history_size_ = 0;
    std::vector<std::string> warnings_;
};

constexpr std::string_view kRelocate = "bin/gpkg-relocate";
constexpr std::string_view kActivate = "bin/activate";

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
std::string shell_value(std::string_view value, std::string_view placeholder) {
    const auto at = placeholder.empty() ? value.npos : value.find(placeholder);
    if (at == value.npos) return shell_word(value);
    const auto rest = value.substr(at + placeholder.size());
    return (at == 0 ? "" : shell_word(value.substr(0, at))) + "\"$CONDA_PREFIX\"" +
           (rest.empty() ? "" : shell_value(rest, placeholder));
}

/// What a package sets when the environment is activated.
void Packer::take_variables(const LaidOutFile& file, const std::string& json) {
    const auto document = nlohmann::json::parse(json, nullptr, false);
    if (!document.is_object()) return;
    for (const auto& [name, value] : document.items()) {
        if (value.is_string())
            variables_[name] = shell_value(value.get<std::string>(), file.placeholder);
    }
}

Result<void> Packer::add(const LaidOutFile& file) {
    if (file.path == kRelocate || file.path == kActivate) scripts_.insert(file.path);
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
        if (value) variables_[name] = shell_word(*value);
    }
    std::string variables;
    for (const auto& [name, value] : variables_)
        variables += fmt::format("_gpkg_keep {}\nexport {}={}\n", name, name, value);
    auto activate = std::string(kActivateScript);
    constexpr std::string_view kPlace = "# variables\n";
    activate.replace(activate.find(kPlace), kPlace.size(), variables);
    return add_script(std::string(kActivate), 0755U & ~variables_kept_from_, activate);
}

/// Its first two lines tell a script of any version.
std::string_view start_of(std::string_view script) {
    return script.substr(0, script.find('\n', script.find('\n') + 1) + 1);
}

}  // namespace

std::vector<std::string> scripts_of_pack(const fs::path& prefix) {
    std::vector<std::string> scripts;
    if (!is_there(prefix / kPack)) return scripts;
    for (const auto& [path, script] :
         {std::pair(kRelocate, kRelocateScript), std::pair(kActivate, kActivateScript)}) {
        const auto text = read_file(prefix / path);
        if (text && text->starts_with(start_of(script))) scripts.emplace_back(path);
    }
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
