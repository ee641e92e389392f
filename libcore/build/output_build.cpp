#include "libcore/build/output_build.hpp"

#include "libcore/base/moment.hpp"
#include "libcore/base/path_glob.hpp"
#include "libcore/base/text.hpp"
#include "libcore/build/checks/binary_checks.hpp"
#include "libcore/build/metadata.hpp"
#include "libcore/build/payload.hpp"
#include "libcore/build/publishing.hpp"
#include "libcore/build/python_layout.hpp"
#include "libcore/build/run_exports.hpp"
#include "libcore/build/script/script_run.hpp"
#include "libcore/package/info.hpp"
#include "libcore/package/unpack.hpp"
#include "libcore/package/write.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpkg {
namespace {

/// Nothing where there is no package that can be read.
std::optional<std::int64_t> time_in_package(const fs::path& package) {
    std::error_code code;
    if (!fs::exists(package, code)) return std::nullopt;
    const auto info = read_package_info(package);
    if (!info) return std::nullopt;
    // A package that can be read has one.
    const auto record = parse_index_json(info->at("index.json"), package.native());
    return record && record->timestamp > 0 ? std::optional(record->timestamp) : std::nullopt;
}

std::string counted(std::size_t count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// Paths for a warning.
std::string first_names(std::vector<std::string> paths) {
    constexpr std::size_t kMostNamed = 5;
    const auto* more = paths.size() > kMostNamed ? ", ..." : "";
    paths.resize(std::min(paths.size(), kMostNamed));
    return fmt::format("{}{}", fmt::join(paths, ", "), more);
}

class OutputBuild {
public:
    OutputBuild(const Recipe& recipe,
                const RenderedOutput& output,
                const StagedOutput* base,
                const BuildOptions& options)
        : recipe_(recipe), output_(output), base_(base), options_(options) {}

    Result<OutputResult> package() {
        return in_its_place<OutputResult>([this]() -> Result<OutputResult> {
            GPKG_CHECK(run());
            GPKG_TRY(auto built, write_package());
            return OutputResult{std::move(built), uses()};
        });
    }

    Result<StagedOutput> stage(const fs::path& aside) {
        return in_its_place<StagedOutput>([&]() -> Result<StagedOutput> {
            GPKG_CHECK(run());
            GPKG_TRY(auto staged, set_aside(place_, before_, aside));
            staged.environments = inherited_environments();
            staged.environments.push_back(environments_);
            staged.uses = uses();
            return staged;
        });
    }

private:
    /// Takes the folders for itself, and leaves them only where something went wrong.
    template <typename Made, typename Make>
    Result<Made> in_its_place(Make make) {
        start_ms_ = start_ms();
        GPKG_TRY(place_, BuildPlace::of(recipe_, output_, options_));
        Result<Made> made = make();
        const bool interrupted = !made && made.error().kind == ErrorKind::Interrupted;
        if (interrupted || (made && !options_.keep_work)) GPKG_CHECK(place_.remove());
        return made;
    }

    /// Unix milliseconds: the time in the package.
    std::int64_t start_ms() const {
        if (options_.timestamp) return *options_.timestamp * 1000;
        if (!options_.reproduce_at) return now_milliseconds();
        const auto published = Publisher(options_.channel, options_.work)
                                   .published(output_.subdir, package_file_name(output_, options_));
        return time_in_package(published).value_or(*options_.reproduce_at * 1000);
    }

    /// Sources, environments, script.
    Result<void> run() {
        GPKG_CHECK(place_.clear());
        GPKG_CHECK(provide_work());
        GPKG_TRY(environments_, make_environments(output_, options_.solve_environment, place_));
        GPKG_TRY(before_, list_prefix(place_.prefix));
        GPKG_TRY(stamps_, stamps_of(place_.prefix));
        if (base_ != nullptr) {
            // With a script, all of it may be needed; without, only what will be packaged.
            const bool all = output_.is_staging || !output_.build.script.is_empty();
            const auto wanted = [&](const std::string& path) {
                return all || is_chosen(path, output_.build);
            };
            GPKG_CHECK(restore_files(*base_, place_.prefix, wanted, options_.cancelled));
        }
        return run_script({recipe_, output_, place_, environments_.host, start_ms_}, options_);
    }

    Result<void> provide_work() {
        auto sources = source_options(options_, place_.work);
        if (base_ == nullptr) {
            sources.time = start_ms_ / 1000;
            return provide_sources(output_.sources, sources);
        }
        GPKG_CHECK(copy_tree(base_->work, place_.work, false, options_.cancelled));
        if (output_.sources.empty()) return {};
        GPKG_TRY(const auto stamps, stamps_of(place_.work));
        GPKG_CHECK(provide_sources(output_.sources, sources));
        GPKG_TRY(const auto changed, overwritten(stamps, place_.work));
        for (const auto& path : changed)
            warnings_.push_back(
                fmt::format("{}: a source of this output overwrites this inherited file (see "
                            "target_directory)",
                            path));
        return {};
    }

    std::vector<BuildEnvironments> inherited_environments() const {
        if (base_ == nullptr || !output_.inherits_run_exports) return {};
        return base_->environments;
    }

    std::vector<EnvironmentUse> uses() const {
        auto all = base_ == nullptr ? std::vector<EnvironmentUse>{} : base_->uses;
        all.insert(all.end(), environments_.uses.begin(), environments_.uses.end());
        return all;
    }

    /// What the script changed of other packages is in nobody's package.
    Result<void> warn_of_changes() {
        GPKG_TRY(auto changed, overwritten(stamps_, place_.prefix));
        std::erase_if(changed, [&](const auto& path) {
            return path.starts_with("conda-meta/") || path.ends_with(".pyc") ||
                   any_path_glob_matches(output_.build.always_include_files, path);
        });
        if (changed.empty()) return {};
        warnings_.push_back(fmt::format(
            "the build changed {} of host packages, which are not packaged: {} (add them with "
            "always_include_files)",
            counted(changed.size(), "file"),
            first_names(changed)));
        return {};
    }

    /// Readers of paths.json know files and links only: conda and micromamba cannot install a
    /// package that lists a folder.
    void leave_out_empty_folders(std::vector<std::string>& files) {
        std::vector<std::string> folders;
        std::erase_if(files, [&](const auto& path) {
            std::error_code ignored;
            const auto type = fs::symlink_status(place_.prefix / path, ignored).type();
            if (type == fs::file_type::directory) folders.push_back(path);
            return type == fs::file_type::directory;
        });
        if (folders.empty()) return;
        warnings_.push_back(
            fmt::format("{} {} not packaged: {} (a package has files and links only; put a file "
                        "into a folder that it needs)",
                        counted(folders.size(), "empty folder"),
                        folders.size() == 1 ? "is" : "are",
                        first_names(folders)));
    }

    /// A package may be there for its dependencies alone.
    bool is_meant_empty() const {
        return output_.build.script.is_empty() && !output_.inherited &&
               output_.build.files_include.empty();
    }

    Result<BuiltPackage> write_package() {
        BuiltPackage built;
        built.distribution = output_.distribution();
        built.log = place_.log;
        built.tests = output_.tests;
        GPKG_CHECK(warn_of_changes());
        GPKG_CHECK(lay_out_python(place_.prefix, before_, output_.build));
        GPKG_TRY(const auto not_compiled,
                 compile_python(place_.prefix, before_, output_.build, options_.cancelled));
        warnings_.insert(warnings_.end(), not_compiled.begin(), not_compiled.end());
        GPKG_TRY(auto files, new_files(place_.prefix, before_, output_.build));
        leave_out_empty_folders(files);
        auto payload = post_process(
            place_.prefix, std::move(files), output_.build, options_.jobs, options_.cancelled);
        if (!payload) {
            auto error = std::move(payload).error();
            error.message = fmt::format("{}: {}", built.distribution, error.message);
            return pass(std::move(error));
        }
        if (payload->files.empty() && !is_meant_empty())
            warnings_.emplace_back("the package contains no files");
        built.warnings = std::move(warnings_);
        built.warnings.insert(
            built.warnings.end(), payload->warnings.begin(), payload->warnings.end());

        auto finished = output_;
        const auto inherited = inherited_environments();
        auto closed = close_pins(finished.requirements, environments_, inherited);
        if (!closed)
            return pass(std::move(closed).error().while_doing("building " + built.distribution));
        auto own = environments_;
        own.requirements.run = finished.requirements.run;
        own.requirements.run_constraints = finished.requirements.run_constraints;
        auto run = run_dependencies(own, !output_.build.noarch.empty(), inherited);
        GPKG_TRY(const auto host, environment_files(place_.prefix));
        GPKG_TRY(const auto binaries,
                 checked_binaries({place_.prefix,
                                   payload->files,
                                   finished,
                                   run,
                                   host,
                                   environments_.build,
                                   options_.cancelled},
                                  built.warnings));
        add_glibc_floor(run.depends, binaries.glibc);
        PackageContent content;
        content.folder = place_.prefix;
        content.files = payload->files;
        GPKG_TRY(
            content.info,
            info_files({recipe_, finished, *payload, run, environments_, start_ms_, place_.work}));
        if (!binaries.empty()) content.info[std::string(kBinariesFile)] = binaries_json(binaries);
        WriteOptions writing;
        writing.timestamp = start_ms_ / 1000;
        writing.zstd_level = options_.zstd_level;
        writing.threads = options_.jobs;
        writing.cancelled = options_.cancelled;
        const auto target = Publisher(options_.channel, options_.work)
                                .unpublished(output_.subdir, package_file_name(output_, options_));
        const auto write = options_.format == PackageFormat::TarBz2 ? write_tar_bz2 : write_conda;
        GPKG_TRY(built.file, write(content, target.parent_path(), writing));
        return built;
    }

    const Recipe& recipe_;
    const RenderedOutput& output_;
    const StagedOutput* base_;
    const BuildOptions& options_;
    std::int64_t start_ms_ = 0;
    BuildPlace place_;
    BuildEnvironments environments_;
    std::set<std::string> before_;  ///< what the environments brought
    FileStamps stamps_;             ///< of that
    std::vector<std::string> warnings_;
};

}  // namespace

Result<OutputResult> build_output(const Recipe& recipe,
                                  const RenderedOutput& output,
                                  const StagedOutput* base,
                                  const BuildOptions& options) {
    return OutputBuild(recipe, output, base, options).package();
}

Result<StagedOutput> stage_output(const Recipe& recipe,
                                  const RenderedOutput& output,
                                  const StagedOutput* base,
                                  const fs::path& aside,
                                  const BuildOptions& options) {
    return OutputBuild(recipe, output, base, options).stage(aside);
}

std::string package_file_name(const RenderedOutput& output, const BuildOptions& options) {
    return output.distribution() +
           (options.format == PackageFormat::TarBz2 ? ".tar.bz2" : ".conda");
}

SourceFetchOptions source_options(const BuildOptions& options, const fs::path& work) {
    SourceFetchOptions sources;
    sources.work = work;
    sources.cache = options.source_cache.empty() ? options.work / "sources" : options.source_cache;
    sources.fetch = options.fetch;
    sources.offline = options.offline;
    sources.mirrors = options.mirrors;
    sources.cancelled = options.cancelled;
    return sources;
}

}  // namespace gpkg
