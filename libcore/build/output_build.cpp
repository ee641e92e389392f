#include "libcore/build/output_build.hpp"

#include "libcore/base/text.hpp"
#include "libcore/build/folder_lock.hpp"
#include "libcore/build/metadata.hpp"
#include "libcore/build/payload.hpp"
#include "libcore/build/python_layout.hpp"
#include "libcore/package/write.hpp"
#include "libcore/process/process.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <thread>

namespace gpkg {
namespace {

constexpr std::size_t kShownLogLines = 20;

std::int64_t now_ms() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

// Scripts may leave folders that nobody may write into, which then cannot be emptied.
Result<void> remove_build(const fs::path& folder) {
    if (remove_tree(folder)) return {};
    std::error_code code;
    fs::permissions(folder, fs::perms::owner_all, fs::perm_options::add, code);
    fs::recursive_directory_iterator walk(folder, code);
    while (!code && walk != fs::recursive_directory_iterator()) {
        std::error_code ignored;
        if (walk->symlink_status(ignored).type() == fs::file_type::directory)
            fs::permissions(walk->path(), fs::perms::owner_all, fs::perm_options::add, ignored);
        walk.increment(code);
    }
    return remove_tree(folder);
}

class OutputBuild {
public:
    OutputBuild(const Recipe& recipe, const RenderedOutput& output, const BuildOptions& options)
        : recipe_(recipe), output_(output), options_(options) {}

    Result<BuiltPackage> run() {
        start_ms_ = options_.timestamp ? *options_.timestamp * 1000 : now_ms();
        GPKG_CHECK(prepare());
        GPKG_TRY(const auto lock, FolderLock::take(lock_, output_.name));
        auto built = run_locked();
        if (built && !lock.warning().empty()) built->warnings.push_back(lock.warning());
        const bool interrupted = !built && built.error().kind == ErrorKind::Interrupted;
        if (interrupted || (built && !options_.keep_work)) GPKG_CHECK(remove_build(folder_));
        return built;
    }

private:
    Result<BuiltPackage> run_locked() {
        GPKG_CHECK(write_file_atomically(log_, ""));
        GPKG_CHECK(remove_build(folder_));
        GPKG_CHECK(make_folders(prefix_));
        GPKG_CHECK(make_folders(build_prefix_));
        GPKG_CHECK(make_folders(folder_ / "home"));
        GPKG_CHECK(make_folders(folder_ / "tmp"));

        SourceFetchOptions sources{
            work_, options_.work / "sources", options_.fetch, options_.cancelled};
        GPKG_CHECK(provide_sources(output_.sources, sources));
        GPKG_CHECK(make_environments());
        GPKG_TRY(const auto before, list_prefix(prefix_));
        GPKG_CHECK(run_script());
        return package(before);
    }

    Result<void> prepare() {
        std::error_code code;
        GPKG_CHECK(make_folders(options_.work / "builds"));
        GPKG_CHECK(make_folders(options_.work / "logs"));
        GPKG_CHECK(make_folders(options_.work / "locks"));
        // Scripts ask for the real path of where they are; it must be the prefix they are given.
        const auto root = fs::canonical(options_.work, code);
        folder_ = root / "builds" / output_.distribution();
        GPKG_TRY(prefix_, build_prefix_below(folder_));
        build_prefix_ = folder_ / "build_env";
        work_ = folder_ / "work";
        lock_ = root / "locks" / output_.distribution();
        log_ = root / "logs" / (output_.distribution() + ".log");
        return {};
    }

    Result<void> make_environments() {
        const auto& needs = output_.requirements;
        if (needs.build.empty() && needs.host.empty()) return {};
        if (!options_.make_environment)
            return fail(
                ErrorKind::Unsupported,
                fmt::format("{}: it needs packages to be built ({}), and there is no way "
                            "to make an environment here",
                            output_.distribution(),
                            needs.build.empty() ? needs.host.front() : needs.build.front()));
        if (!needs.build.empty()) {
            GPKG_TRY(build_packages_, options_.make_environment(needs.build, build_prefix_));
        }
        const auto host = host_specs(needs, build_packages_);
        if (!host.empty()) {
            GPKG_TRY(host_packages_, options_.make_environment(host, prefix_));
        }
        return {};
    }

    /// Where the host's python is, and where it looks for modules.
    void add_python(std::map<std::string, std::string>& variables) const {
        const auto python =
            std::find_if(host_packages_.begin(), host_packages_.end(), [](const auto& package) {
                return package.name == "python";
            });
        if (python == host_packages_.end()) return;
        const auto parts = split(python->version, '.');
        if (parts.size() < 2) return;
        const auto minor = fmt::format("{}.{}", parts[0], parts[1]);
        const auto library = prefix_ / "lib" / ("python" + minor);
        variables["PYTHON"] = (prefix_ / "bin/python").native();
        variables["PY_VER"] = minor;
        variables["STDLIB_DIR"] = library.native();
        variables["SP_DIR"] = (library / "site-packages").native();
    }

    std::map<std::string, std::string> environment() const {
        const auto cpus = options_.cpu_count > 0
                              ? static_cast<unsigned>(options_.cpu_count)
                              : std::max(1U, std::thread::hardware_concurrency());
        std::map<std::string, std::string> variables{
            {"PREFIX", prefix_.native()},
            {"BUILD_PREFIX", build_prefix_.native()},
            {"SRC_DIR", work_.native()},
            {"RECIPE_DIR", recipe_.folder().native()},
            {"PKG_NAME", output_.name},
            {"PKG_VERSION", output_.version},
            {"PKG_BUILDNUM", std::to_string(output_.build.number)},
            {"PKG_BUILD_STRING", output_.build_string},
            {"PKG_HASH", variant_hash(output_.used_variant)},
            {"CPU_COUNT", std::to_string(cpus)},
            {"SUBDIR", output_.target_platform},
            {"target_platform", output_.target_platform},
            {"build_platform", options_.render.build_platform},
            {"CONDA_BUILD", "1"},
            {"CONDA_BUILD_STATE", "BUILD"},
            {"SHLIB_EXT", output_.target_platform.starts_with("osx-") ? ".dylib" : ".so"},
            {"SOURCE_DATE_EPOCH", std::to_string(start_ms_ / 1000)},
            {"HOME", (folder_ / "home").native()},
            {"TMPDIR", (folder_ / "tmp").native()},
            {"LANG", "C.UTF-8"},
            {"LC_ALL", "C.UTF-8"},
            {"TZ", "UTC"},
            {"PYTHONNOUSERSITE", "1"},
            {"PATH",
             fmt::format("{}/bin:{}/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
                         build_prefix_.native(),
                         prefix_.native())}};
        add_python(variables);
        for (const auto& [key, value] : output_.used_variant) variables.emplace(key, value.text);
        for (const auto& [key, value] : output_.build.script.environment)
            variables.insert_or_assign(key, value);
        return variables;
    }

    Result<void> run_script() const {
        const auto& script = output_.build.script;
        auto file = script.file;
        if (file.empty()) {
            if (script.content.empty()) return {};
            file = folder_ / "build_script.sh";
            GPKG_CHECK(write_file_atomically(file, script.content));
        }
        ProcessCommand command;
        command.arguments = {"bash", "-ex", file.native()};
        command.environment = environment();
        command.folder = work_;
        command.log = log_;
        command.umask = 022;
        command.cancelled = options_.cancelled;
        GPKG_TRY(const int code, run_command(command));
        if (code == 0) return {};
        return fail(
            ErrorKind::Io,
            fmt::format("{}: the build script ended with {}; it said last:\n{}",
                        output_.distribution(),
                        code,
                        last_lines(read_file(log_).value_or(""), kShownLogLines)),
            fmt::format(
                "all of it is in {}, the build folder is {}", log_.native(), folder_.native()));
    }

    Result<BuiltPackage> package(const std::set<std::string>& before) const {
        BuiltPackage built;
        built.distribution = output_.distribution();
        built.log = log_;
        built.tests = output_.tests;
        GPKG_CHECK(lay_out_python(prefix_, before, output_.build));
        GPKG_TRY(auto files, new_files(prefix_, before, output_.build));
        auto payload = post_process(prefix_, std::move(files), output_.build, options_.jobs);
        if (!payload) {
            auto error = std::move(payload).error();
            error.message = fmt::format("{}: {}", built.distribution, error.message);
            return pass(std::move(error));
        }
        built.warnings = payload->warnings;

        const auto run = run_dependencies(
            output_.requirements, !output_.build.noarch.empty(), build_packages_, host_packages_);
        PackageContent content;
        content.folder = prefix_;
        content.files = payload->files;
        GPKG_TRY(content.info, info_files({recipe_, output_, *payload, run, start_ms_, work_}));
        WriteOptions writing;
        writing.timestamp = start_ms_ / 1000;
        writing.zstd_level = options_.zstd_level;
        writing.threads = options_.jobs;
        writing.cancelled = options_.cancelled;
        const auto target = options_.channel / output_.subdir;
        GPKG_CHECK(make_folders(target));
        GPKG_TRY(built.file, write_conda(content, target, writing));
        return built;
    }

    const Recipe& recipe_;
    const RenderedOutput& output_;
    const BuildOptions& options_;
    std::int64_t start_ms_ = 0;
    fs::path folder_, prefix_, build_prefix_, work_, log_, lock_;
    std::vector<EnvironmentPackage> build_packages_;
    std::vector<EnvironmentPackage> host_packages_;
};

}  // namespace

Result<BuiltPackage> build_output(const Recipe& recipe,
                                  const RenderedOutput& output,
                                  const BuildOptions& options) {
    return OutputBuild(recipe, output, options).run();
}

}  // namespace gpkg
