#include "libcore/build/cluster/task_array.hpp"

#include "libcore/base/json_text.hpp"
#include "libcore/fs/temporary.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>

namespace gpkg {
namespace {

constexpr const char* kArray = "array.json";

constexpr const char* kOwner = "owner";

fs::path root_in(const fs::path& work) { return work / "slurm"; }

/// Moves every file below `from` to the same place below `to`.
Result<void> move_files(const fs::path& from, const fs::path& to) {
    std::vector<fs::path> files;
    std::error_code code;
    for (fs::recursive_directory_iterator walk(from, code), end; !code && walk != end;
         walk.increment(code)) {
        std::error_code ignored;
        if (!walk->is_directory(ignored)) files.push_back(walk->path());
    }
    for (const auto& file : files) {
        const auto target = to / file.lexically_relative(from);
        GPKG_CHECK(make_folders(target.parent_path()));
        GPKG_CHECK(rename_path(file, target));
    }
    return {};
}

}  // namespace

Result<TaskArray> TaskArray::make(const fs::path& work, const std::vector<TaskOrder>& orders) {
    // Under another name until it is whole.
    const auto name = random_suffix();
    const auto place = root_in(work) / name;
    const auto unfinished = root_in(work) / ("." + name);
    GPKG_CHECK(make_folders(unfinished));
    auto owner = Claim::try_to_take(unfinished / kOwner);
    if (!owner.claim) return pass(io_error(unfinished / kOwner, "make", owner.error));
    TaskArray array(unfinished, *std::move(owner.claim));
    array.count_ = orders.size();
    for (std::size_t i = 0; i < orders.size(); ++i) {
        GPKG_CHECK(make_folders(array.task(i)));
        GPKG_CHECK(write_order(array.task(i), orders[i]));
    }
    GPKG_CHECK(array.write());
    GPKG_CHECK(rename_path(unfinished, place));
    array.folder_ = place;
    array.owner_.moved_to(place / kOwner);
    return array;
}

Result<std::vector<TaskArray>> TaskArray::left_in(const fs::path& work) {
    std::vector<TaskArray> arrays;
    std::error_code code;
    for (fs::directory_iterator entry(root_in(work), code), end; !code && entry != end;
         entry.increment(code)) {
        const auto file = entry->path() / kOwner;
        const bool is_whole = !entry->path().filename().native().starts_with('.');
        const auto said = read_file(file);
        if (!said && !is_whole) continue;  // it is being made just now
        std::error_code ignored;
        if (said && !is_claim(*said)) fs::remove(file, ignored);
        auto owner = Claim::try_to_take(file).claim;
        if (!owner) continue;
        const auto text = read_file(entry->path() / kArray);
        const auto document =
            text ? nlohmann::json::parse(*text, nullptr, false) : nlohmann::json();
        if (!document.is_object() || !is_whole) {
            GPKG_CHECK(remove_tree(entry->path()));
            continue;
        }
        TaskArray array(entry->path(), *std::move(owner));
        array.count_ = document.value("count", std::size_t{0});
        array.job_ = document.value("job", std::string());
        arrays.push_back(std::move(array));
    }
    std::sort(arrays.begin(), arrays.end(), [](const auto& one, const auto& other) {
        return one.folder_ < other.folder_;
    });
    return arrays;
}

Result<void> TaskArray::write() const {
    const nlohmann::ordered_json document{{"count", count_}, {"job", job_}};
    return write_file_atomically(folder_ / kArray, json_text(document) + "\n");
}

Result<void> TaskArray::remember_job(const std::string& job) {
    job_ = job;
    return write();
}

std::vector<std::size_t> TaskArray::open() const {
    std::vector<std::size_t> indexes;
    for (std::size_t i = 0; i < count_; ++i) {
        std::error_code code;
        if (fs::exists(task(i), code)) indexes.push_back(i);
    }
    return indexes;
}

Result<void> TaskArray::gather(std::size_t index, const fs::path& work) const {
    // A package without its note would be built again, so the notes go first.
    for (const auto* kind : {"logs", "built", "tested", "failed", "unpublished"})
        GPKG_CHECK(move_files(task(index) / kind, work / kind));
    return forget(index);
}

Result<void> TaskArray::forget(std::size_t index) const {
    std::error_code code;
    fs::remove(log(index), code);
    GPKG_CHECK(remove_tree(task(index)));
    if (!open().empty()) return {};
    return remove_tree(folder_);
}

}  // namespace gpkg
