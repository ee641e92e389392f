#include "tests/unit/env/sample.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/env/generation.hpp"
#include "tests/support/catch.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

namespace gpkg::samples {
namespace {

void write(const fs::path& path, const std::string& text, unsigned mode = 0644) {
    REQUIRE(write_file_atomically(path, text));
    REQUIRE(::chmod(path.c_str(), mode) == 0);
}

nlohmann::json path_json(const File& file) {
    nlohmann::json out = {{"_path", file.path},
                          {"path_type", file.soft_link ? "softlink" : "hardlink"},
                          {"sha256", hex_digest(DigestKind::Sha256, file.content)},
                          {"size_in_bytes", file.content.size()}};
    if (!file.placeholder.empty()) {
        out["prefix_placeholder"] = file.placeholder;
        out["file_mode"] = file.binary ? "binary" : "text";
    }
    if (file.no_link) out["no_link"] = true;
    return out;
}

void unpack(const fs::path& folder, const Package& package) {
    auto paths = nlohmann::json::array();
    for (const auto& file : package.files) {
        paths.push_back(path_json(file));
        if (file.soft_link) {
            REQUIRE(make_folders((folder / file.path).parent_path()));
            fs::create_symlink(file.content, folder / file.path);
        } else {
            write(folder / file.path, file.content, file.mode);
        }
    }
    write(folder / "info/paths.json",
          nlohmann::json{{"paths_version", 1}, {"paths", paths}}.dump());
    const nlohmann::json index = {{"name", package.name},
                                  {"version", package.version},
                                  {"build", "0"},
                                  {"build_number", 0},
                                  {"depends", nlohmann::json::array()},
                                  {"subdir", "linux-64"}};
    write(folder / "info/index.json", index.dump());
    if (!package.entry_points.empty()) {
        const nlohmann::json link = {
            {"package_metadata_version", 1},
            {"noarch", {{"type", "python"}, {"entry_points", package.entry_points}}}};
        write(folder / "info/link.json", link.dump());
    }
}

/// In memory where that is possible: a transaction syncs, and the tests make thousands.
fs::path temporary_folder() {
    const bool memory = ::access("/dev/shm", W_OK) == 0;
    return memory ? fs::path("/dev/shm") : fs::canonical(fs::temp_directory_path());
}

}  // namespace

PackageRecord Package::record() const {
    PackageRecord out;
    out.name = name;
    out.version = version;
    out.build.assign(1, '0');
    out.subdir = noarch.empty() ? "linux-64" : "noarch";
    out.channel = "https://example.org/main";
    out.fn = fmt::format("{}-{}-0.conda", name, version);
    out.url = fmt::format("{}/{}/{}", out.channel, out.subdir, out.fn);
    out.noarch = noarch;
    out.python_site_packages_path = site_packages;
    return out;
}

World::World() : root_(TemporaryFolder::make(temporary_folder(), "gpkg-env-test-").value()) {}

LinkRequest World::request(const Package& package, std::vector<std::string> specs) {
    LinkRequest out;
    out.record = package.record();
    out.unpacked = root() / "pkgs" / out.record.distribution();
    out.requested_specs = std::move(specs);
    if (!fs::exists(out.unpacked)) unpack(out.unpacked, package);
    return out;
}

Result<TransactionReport> World::install(const std::vector<Package>& packages,
                                         const TransactionOptions& options) {
    Transaction transaction;
    transaction.prefix = prefix();
    const auto installed = fs::exists(prefix() / "conda-meta") ? read_records(prefix()).value()
                                                               : std::vector<PrefixRecord>();
    for (const auto& package : packages) {
        if (const auto* old = find_record(installed, package.name))
            transaction.unlink.push_back(*old);
        transaction.link.push_back(request(package, {package.name}));
        transaction.history.update_specs.push_back(package.name);
    }
    return execute(transaction, options);
}

Result<TransactionReport> World::remove(const std::vector<std::string>& names,
                                        const TransactionOptions& options) {
    Transaction transaction;
    transaction.prefix = prefix();
    for (const auto& name : names) transaction.unlink.push_back(installed(name));
    transaction.history.remove_specs = names;
    return execute(transaction, options);
}

PrefixRecord World::installed(const std::string& name) const {
    const auto records = read_records(prefix()).value();
    const auto* found = find_record(records, name);
    REQUIRE(found != nullptr);
    return *found;
}

std::string World::text(const std::string& path) const {
    return read_file(prefix() / path).value_or("(not there)");
}

std::map<std::string, std::string> tree_of(const fs::path& folder) {
    std::map<std::string, std::string> out;
    if (!fs::exists(folder)) return {{"", "nothing"}};
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        const auto path = entry.path().lexically_relative(folder).native();
        if (entry.is_symlink()) {
            out[path] = fmt::format("link {}", fs::read_symlink(entry.path()).native());
        } else if (entry.is_directory()) {
            out[path] = "folder";
        } else {
            struct stat status {};
            REQUIRE(::stat(entry.path().c_str(), &status) == 0);
            auto text = read_file(entry.path()).value();
            if (path.ends_with("conda-meta/history")) {
                std::string kept;
                for (std::size_t at = 0; at < text.size();) {
                    const auto end = std::min(text.find('\n', at), text.size());
                    if (text.compare(at, 3, "==>") != 0) kept += text.substr(at, end - at) + "\n";
                    at = end + 1;
                }
                text = kept;
            } else if (path.ends_with(".json.zst")) {
                auto generation =
                    Generation::parse(zstd_decompress(text, path, 0).value(), path).value();
                generation.time.clear();
                text = generation.to_json();
            }
            out[path] = fmt::format("file {:o} {}", status.st_mode & 07777, text);
        }
    }
    return out;
}

}  // namespace gpkg::samples
