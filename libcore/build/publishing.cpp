#include "libcore/build/publishing.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fmt/format.h>
#include <sys/stat.h>
#include <system_error>

namespace gpkg {
namespace {

/// <work>/<kind>/<subdir>/<file name>
fs::path below(const fs::path& work, std::string_view kind, const fs::path& package) {
    return work / kind / package.parent_path().filename() / package.filename();
}

/// Writes the new stamp where the note has the old one.
Result<void> restamp(const fs::path& note, const std::string& from, const std::string& to) {
    auto text = read_file(note);
    const auto at = text ? text->find(from) : std::string::npos;
    if (at == std::string::npos) return {};
    return write_file_atomically(note, text->replace(at, from.size(), to));
}

/// To another file system: whole or not at all, with its time, as far as the other can tell it.
Result<void> copy_across(const fs::path& from, const fs::path& to, const fs::path& work) {
    GPKG_TRY(auto file, NewFile::make(to));
    Result<void> written;
    GPKG_CHECK(read_in_pieces(from, 0, [&](std::string_view piece, std::uint64_t) {
        written = file.write(piece);
        return written.has_value();
    }));
    GPKG_CHECK(std::move(written));
    struct stat status {};
    if (::stat(from.c_str(), &status) != 0) return pass(io_error(from, "read", errno));
    const std::array times = {status.st_atim, status.st_mtim};
    if (::futimens(file.fd(), times.data()) != 0) return pass(io_error(to, "set the time", errno));
    const auto before = stamp_of(from);
    GPKG_CHECK(file.finish(true));
    for (const auto& note : {note_on(from, work), below(work, "tested", from)})
        GPKG_CHECK(restamp(note, before, stamp_of(to)));
    return remove_tree(from);
}

/// A reader sees the file that was there, or this one.
Result<void> move_package(const fs::path& from, const fs::path& to, const fs::path& work) {
    GPKG_CHECK(make_folders(to.parent_path()));
    std::error_code code;
    fs::rename(from, to, code);
    if (code == std::errc::cross_device_link) return copy_across(from, to, work);
    if (code) return pass(io_error(from, "move to " + to.native(), code.value()));
    return {};
}

/// Whether the package at `old` has other bytes than the one at `now`.
bool has_other_contents(const fs::path& old, const fs::path& now) {
    std::error_code code;
    if (fs::file_size(old, code) != fs::file_size(now, code) || code) return true;
    const auto one = sha256_of_file(old);
    const auto other = sha256_of_file(now);
    return !one || !other || *one != *other;
}

}  // namespace

std::string stamp_of(const fs::path& file) {
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0) return {};
    return fmt::format(
        "{} {}.{:09}", status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

fs::path note_on(const fs::path& package, const fs::path& work) {
    return below(work, "built", package);
}

Publisher::Publisher(fs::path channel, fs::path work)
    : channel_(std::move(channel)), work_(std::move(work)) {}

fs::path Publisher::unpublished(const std::string& subdir, const std::string& file_name) const {
    return work_ / "unpublished" / subdir / file_name;
}

fs::path Publisher::published(const std::string& subdir, const std::string& file_name) const {
    return channel_ / subdir / file_name;
}

fs::path Publisher::test_log(const BuiltPackage& package) const {
    return work_ / "logs" / (package.distribution + ".tests.log");
}

bool Publisher::is_tested(const BuiltPackage& package) const {
    const auto note = read_file(below(work_, "tested", package.file));
    return note && *note == stamp_of(package.file);
}

Result<void> Publisher::remember_tested(const BuiltPackage& package) const {
    return write_file_atomically(below(work_, "tested", package.file), stamp_of(package.file));
}

Result<Published> Publisher::publish(BuiltPackage& package) const {
    if (package.is_published) return Published::Before;
    const auto& file = package.file;
    auto place = published(file.parent_path().filename(), file.filename());
    std::error_code code;
    const auto result = !fs::exists(place, code)          ? Published::New
                        : has_other_contents(place, file) ? Published::Changed
                                                          : Published::Same;
    GPKG_CHECK(move_package(file, place, work_));
    package.file = std::move(place);
    package.is_published = true;
    return result;
}

Result<std::string> Publisher::withhold(const BuiltPackage& package) const {
    const auto& file = package.file;
    if (package.is_published)
        return fmt::format("the package was published earlier and stays in the channel: {}",
                           file.native());
    const auto place = below(work_, "failed", file);
    GPKG_CHECK(move_package(file, place, work_));
    std::error_code code;
    const bool has_other =
        fs::exists(published(file.parent_path().filename(), file.filename()), code);
    return fmt::format("the package was not published; it is in {}{}",
                       place.native(),
                       has_other ? "; the channel keeps the earlier one" : "");
}

Result<void> stage_package(const fs::path& package, const fs::path& staging) {
    const auto link = staging / package.parent_path().filename() / package.filename();
    GPKG_CHECK(make_folders(link.parent_path()));
    GPKG_CHECK(remove_tree(link));
    std::error_code code;
    fs::create_symlink(package, link, code);
    if (code) return pass(io_error(link, "make a link", code.value()));
    return {};
}

std::vector<Heir> heirs_of(const std::vector<BuiltPackage>& packages, std::set<std::string> gone) {
    std::vector<Heir> heirs;
    for (bool again = !gone.empty(); again;) {
        again = false;
        for (const auto& package : packages) {
            if (package.is_published || gone.contains(package.distribution)) continue;
            const auto& with = package.built_with;
            const auto found = std::find_if(
                with.begin(), with.end(), [&](const auto& name) { return gone.contains(name); });
            if (found == with.end()) continue;
            heirs.emplace_back(&package, *found);
            gone.insert(package.distribution);
            again = true;
        }
    }
    return heirs;
}

}  // namespace gpkg
