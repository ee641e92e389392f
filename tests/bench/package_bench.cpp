// Unpacking many packages into a fresh store, beside what the machine could do at best and what
// shell tools do, in one run.
//   package_bench FOLDER [THREADS]      all .conda files of FOLDER
//   package_bench --make FOLDER COUNT   makes COUNT packages of the largest installed by dpkg

#include "libcore/package/info.hpp"
#include "libcore/package/paths.hpp"
#include "libcore/package/store.hpp"
#include "libcore/package/write.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>
#include <zstd.h>

using namespace gpkg;

namespace {

[[noreturn]] void stop(const std::string& text) {
    fmt::print(stderr, "{}\n", text);
    std::exit(1);
}

double cpu_seconds() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

struct Cost {
    double wall = 0;
    double cpu = 0;
};

/// Starts with the disk at rest: what an earlier row wrote must not slow this one.
Cost measure(const std::function<void()>& work) {
    ::sync();
    const auto cpu = cpu_seconds();
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    return {wall.count(), cpu_seconds() - cpu};
}

void in_parallel(std::size_t threads,
                 const std::vector<fs::path>& archives,
                 const std::function<void(const fs::path&)>& work) {
    std::atomic<std::size_t> next{0};
    std::vector<std::thread> workers;
    for (std::size_t i = 0; i < threads; ++i)
        workers.emplace_back([&] {
            for (std::size_t at = next++; at < archives.size(); at = next++) work(archives[at]);
        });
    for (auto& worker : workers) worker.join();
}

struct FreeArchive {
    void operator()(struct archive* archive) const { archive_free(archive); }
};
struct FreeZstd {
    void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
};

/// Decompresses the members into nothing: no unpacker can be faster.
void decompress(const fs::path& path) {
    const std::unique_ptr<struct archive, FreeArchive> zip(archive_read_new());
    archive_read_support_format_zip_seekable(zip.get());
    if (archive_read_open_filename(zip.get(), path.c_str(), 262144) != ARCHIVE_OK) return;
    std::string out(ZSTD_DStreamOutSize(), '\0');
    struct archive_entry* entry = nullptr;
    while (archive_read_next_header(zip.get(), &entry) == ARCHIVE_OK) {
        if (!std::string_view(archive_entry_pathname(entry)).ends_with(".zst")) continue;
        const std::unique_ptr<ZSTD_DStream, FreeZstd> stream(ZSTD_createDStream());
        const void* data = nullptr;
        std::size_t size = 0;
        la_int64_t offset = 0;
        while (archive_read_data_block(zip.get(), &data, &size, &offset) == ARCHIVE_OK) {
            ZSTD_inBuffer input{data, size, 0};
            while (input.pos < input.size) {
                ZSTD_outBuffer output{out.data(), out.size(), 0};
                if (ZSTD_isError(ZSTD_decompressStream(stream.get(), &output, &input)) != 0) return;
            }
        }
    }
}

PackageRecord record_of(const fs::path& archive) {
    const auto info = read_package_info(archive);
    if (!info) stop(info.error().to_string());
    auto record = parse_index_json(info->at("index.json"), archive.native());
    if (!record) stop(record.error().to_string());
    record->sha256 = sha256_of_file(archive).value();
    return *record;
}

void bench(const fs::path& folder, std::size_t threads) {
    std::vector<fs::path> archives;
    std::uint64_t packed = 0;
    for (const auto& item : fs::directory_iterator(folder)) {
        if (item.path().extension() != ".conda") continue;
        archives.push_back(item.path());
        packed += item.file_size();
    }
    std::map<fs::path, PackageRecord> records;
    for (const auto& archive : archives) records[archive] = record_of(archive);
    const auto room = TemporaryFolder::make(folder.parent_path(), "bench-").value();

    const auto limit = measure([&] { in_parallel(threads, archives, decompress); });
    const auto row = [&](std::string_view name, const Cost& cost) {
        fmt::print("{:44} {:6.2f} s {:6.2f} s cpu {:5.2f} x\n",
                   name,
                   cost.wall,
                   cost.cpu,
                   cost.wall / limit.wall);
    };
    const auto unpack = [&](std::string_view name, bool verify) {
        const auto target = room.path() / name;
        fs::create_directory(target);
        UnpackOptions options;
        options.verify = verify;
        const auto cost = measure([&] {
            in_parallel(threads, archives, [&](const fs::path& archive) {
                const auto done = unpack_package(archive, target / archive.stem(), options);
                if (!done) stop(done.error().to_string());
            });
        });
        fs::remove_all(target);
        return cost;
    };
    const auto plain = unpack("plain", false);
    const auto verified = unpack("verified", true);
    const PackageStore store({room.path() / "pkgs", {}, {}});
    StoreAddOptions trusted;
    trusted.archive_verified = true;
    const auto add = measure([&] {
        in_parallel(threads, archives, [&](const fs::path& archive) {
            const auto done = store.add(archive, records[archive], trusted);
            if (!done) stop(done.error().to_string());
        });
    });
    const auto find = measure([&] {
        for (const auto& archive : archives)
            if (!store.find(records[archive])) stop("not found again: " + archive.native());
    });
    const auto usage = folder_usage(store.root()).value();
    fs::remove_all(store.root());
    fmt::print("{} packages, {:.0f} MB packed, {:.0f} MB in {} files and folders, {} threads\n",
               archives.size(),
               static_cast<double>(packed) / 1e6,
               static_cast<double>(usage.bytes) / 1e6,
               usage.files,
               threads);
    row("limit: decompress into nothing", limit);
    row("unpack", plain);
    row("unpack, content compared with paths.json", verified);
    row("add to the store (the same, and its record)", add);
    row("find all of them in the store", find);
    if (std::system("command -v unzip zstd xargs >/dev/null") != 0) {
        fmt::print("no peer: unzip and zstd are not installed\n");
        return;
    }
    const auto peer = measure([&] {
        const auto command = fmt::format(
            "cd {0} && ls {1}/*.conda | xargs -P {2} -I@ sh -c 'd=shell-$(basename @); mkdir $d; "
            "for m in pkg info; do unzip -p @ \"$m-*\" | zstd -dc | tar -x -C $d; done'",
            room.path().native(),
            fs::absolute(folder).native(),
            threads);
        if (std::system(command.c_str()) != 0) fmt::print("the shell tools failed\n");
    });
    row("peer: unzip | zstd | tar", peer);
}

std::string output_of(const std::string& command) {
    std::string text;
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
    std::string piece(65536, '\0');
    for (std::size_t n = 0; (n = std::fread(piece.data(), 1, piece.size(), pipe.get())) != 0;)
        text.append(piece, 0, n);
    return text;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::size_t start = 0;
    for (auto end = text.find('\n'); end != std::string::npos; end = text.find('\n', start)) {
        lines.push_back(text.substr(start, end - start));
        start = end + 1;
    }
    return lines;
}

void make_packages(const fs::path& folder, const std::string& count) {
    const auto names = lines_of(
        output_of("dpkg-query -W -f '${Installed-Size} ${Package}\\n' | sort -rn | sed -n '2," +
                  count + "p' | cut -d' ' -f2"));
    for (const auto& name : names) {
        PackageContent content;
        content.folder = "/";
        for (const auto& line : lines_of(output_of("dpkg -L " + name + " | sort -u"))) {
            const auto status = fs::symlink_status(line);
            const bool wanted = fs::is_regular_file(status) || fs::is_symlink(status);
            const auto parent = fs::weakly_canonical(fs::path(line).parent_path());
            if (wanted && parent == fs::path(line).parent_path())
                content.files.push_back(line.substr(1));
        }
        const auto paths = describe_paths("/", content.files, "");
        if (!paths) stop(paths.error().to_string());
        content.info["paths.json"] = paths_json(*paths);
        content.info["index.json"] = fmt::format(
            R"({{"name": "{}", "version": "1", "build": "0", "build_number": 0}})", name);
        WriteOptions options;
        options.zstd_level = 6;
        const auto done = write_conda(content, folder, options);
        if (!done) stop(done.error().to_string());
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 4 && std::string_view(argv[1]) == "--make") {
        make_packages(argv[2], argv[3]);
        return 0;
    }
    if (argc < 2) stop("usage: package_bench FOLDER [THREADS] | --make FOLDER COUNT");
    bench(argv[1], argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 2);
    return 0;
}
