#include "libcore/index/channel_index.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/base/text.hpp"
#include "libcore/index/base_url_internal.hpp"
#include "libcore/index/index_format_internal.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <type_traits>
#include <utility>
#include <xxhash.h>

namespace gpkg {
namespace {

using namespace index_format;

constexpr std::size_t kLongestNote = 8192;

static_assert(std::has_unique_object_representations_v<ChannelIndex::Row>);
static_assert(std::has_unique_object_representations_v<Entry>);
static_assert(std::has_unique_object_representations_v<Footer>);
static_assert(std::has_unique_object_representations_v<Segment>);

template <typename T>
const T* at(const char* bytes) {
    return reinterpret_cast<const T*>(bytes);
}

/// What must hold before anything else of the bytes is believed.
bool is_sound(std::string_view bytes) {
    if (bytes.size() < kMagic.size() + sizeof(Footer) || bytes.size() % 8 != 0) return false;
    const auto end = bytes.size() - sizeof(Footer);
    Footer footer;
    std::memcpy(&footer, bytes.data() + end, sizeof(Footer));
    const auto covered = bytes_of(footer).substr(0, offsetof(Footer, checksum));
    const auto magic = std::string_view(kMagic.data(), kMagic.size());
    if (bytes.substr(0, magic.size()) != magic || footer.magic != kMagic ||
        footer.byte_order != kByteOrder || footer.version != kVersion ||
        footer.checksum != checksum(covered) || footer.file_size != bytes.size() ||
        footer.directory > end || footer.directory_size != end - footer.directory)
        return false;
    return checksum(bytes.substr(footer.directory, footer.directory_size)) ==
           footer.directory_checksum;
}

tl::unexpected<Error> damaged(const fs::path& file, std::string_view what) {
    return fail(ErrorKind::Integrity, fmt::format("{}: {}", file.native(), what));
}

}  // namespace

std::uint64_t index_format::checksum(std::string_view bytes) {
    return XXH3_64bits(bytes.data(), bytes.size());
}

/// The bytes: a mapping, or a text of our own (which is aligned well enough, being long).
struct ChannelIndex::Storage {
    fs::path file;
    std::string owned;
    const char* data = nullptr;
    std::size_t size = 0;

    Storage() = default;
    Storage(const Storage&) = delete;
    Storage& operator=(const Storage&) = delete;
    ~Storage() {
        if (owned.empty() && data != nullptr) ::munmap(const_cast<char*>(data), size);
    }

    std::string_view bytes() const { return {data, size}; }
};

Result<ChannelIndex> ChannelIndex::open(const fs::path& file,
                                        IndexSource source,
                                        const std::optional<IndexOrigin>& origin) {
    const Descriptor opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status {};
    if (!opened || ::fstat(opened.get(), &status) != 0) return pass(io_error(file, "open", errno));
    auto storage = std::make_shared<Storage>();
    storage->file = file;
    const auto size = static_cast<std::size_t>(status.st_size);
    if (size > 0) {
        void* mapped = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, opened.get(), 0);
        if (mapped == MAP_FAILED) return pass(io_error(file, "map", errno));
        storage->data = static_cast<const char*>(mapped);
        storage->size = size;
    }
    return open(std::move(storage), std::move(source), origin);
}

Result<ChannelIndex> ChannelIndex::from_bytes(std::string bytes, IndexSource source) {
    auto storage = std::make_shared<Storage>();
    storage->owned = std::move(bytes);
    storage->data = storage->owned.data();
    storage->size = storage->owned.size();
    return open(std::move(storage), std::move(source), std::nullopt);
}

Result<ChannelIndex> ChannelIndex::open(std::shared_ptr<const Storage> storage,
                                        IndexSource source,
                                        const std::optional<IndexOrigin>& origin) {
    if (!is_sound(storage->bytes()))
        return damaged(storage->file, "not an index of this gpkg version, or incomplete");
    ChannelIndex index(std::move(storage), std::move(source));
    const auto& footer = index.footer();
    if (origin && footer.origin != *origin)
        return damaged(index.storage_->file, "made from other repodata");
    auto folder = artifact_folder(index.source_.url, index.directory_text(footer.base_url));
    if (!folder)
        return fail(ErrorKind::Integrity,
                    fmt::format("{}: {}", index.source_.url, std::move(folder).error().message),
                    "report it to the channel's maintainers");
    index.folder_ = *std::move(folder);
    index.relations_.base = index.directory_text(footer.base);
    index.relations_.overrides = index.directory_text(footer.overrides);
    const auto* notes =
        at<Text>(index.storage_->data + footer.directory + footer.names * sizeof(Entry));
    for (std::uint32_t i = 0; i < footer.notes; ++i)
        index.notes_.push_back(fmt::format(
            "{}: {}", index.source_.url, printable(index.directory_text(notes[i]), kLongestNote)));
    return index;
}

ChannelIndex::ChannelIndex(std::shared_ptr<const Storage> storage, IndexSource source)
    : storage_(std::move(storage)), source_(std::move(source)) {
    is_checked_.resize(footer().names);
}

const Footer& ChannelIndex::footer() const {
    return *at<Footer>(storage_->data + storage_->size - sizeof(Footer));
}

std::span<const Entry> ChannelIndex::entries() const {
    return {at<Entry>(storage_->data + footer().directory), footer().names};
}

std::string_view ChannelIndex::directory_text(Text piece) const {
    return {storage_->data + footer().directory + footer().texts_at + piece.offset, piece.size};
}

std::size_t ChannelIndex::record_count() const { return footer().records; }
std::size_t ChannelIndex::spec_count() const { return footer().specs; }

void ChannelIndex::list_names_with(ListNames list) { list_names_ = std::move(list); }

std::vector<std::string_view> ChannelIndex::names() const {
    if (const auto list = std::exchange(list_names_, {})) listed_names_ = list();
    if (!listed_names_.empty()) return {listed_names_.begin(), listed_names_.end()};
    std::vector<std::string_view> names;
    for (const auto& entry : entries()) {
        if (entry.rows > 0) names.push_back(directory_text(entry.name));
    }
    return names;
}

const Entry* ChannelIndex::entry_of(std::string_view name) const {
    const auto all = entries();
    const auto found =
        std::lower_bound(all.begin(), all.end(), name, [&](const Entry& entry, auto wanted) {
            return directory_text(entry.name) < wanted;
        });
    return found != all.end() && directory_text(found->name) == name ? &*found : nullptr;
}

bool ChannelIndex::has(std::string_view name) const {
    const auto* entry = entry_of(name);
    return entry != nullptr && entry->rows > 0;
}

Result<const char*> ChannelIndex::checked(const Entry& entry) const {
    const auto place = static_cast<std::size_t>(&entry - entries().data());
    const char* segment = storage_->data + entry.offset;
    if (is_checked_[place]) return segment;
    if (checksum({segment, entry.size}) != entry.checksum) {
        const auto damage = fmt::format(
            "{}: the data of {} is damaged", storage_->file.native(), directory_text(entry.name));
        std::error_code code;
        fs::remove(storage_->file, code);
        if (code)
            return fail(
                ErrorKind::Integrity,
                fmt::format("{}, and the file cannot be removed: {}", damage, code.message()),
                "ask the owner to remove the file; gpkg then creates it again");
        return fail(ErrorKind::DamagedCache, damage + "; creating the file again");
    }
    is_checked_[place] = true;
    return segment;
}

Result<NameRecords> ChannelIndex::find(std::string_view name) const {
    const auto* entry = entry_of(name);
    if (entry == nullptr || entry->rows == 0) return NameRecords{};
    GPKG_TRY(const auto* segment, checked(*entry));
    return NameRecords(directory_text(entry->name), segment);
}

std::pair<ChannelIndex::SpecNumber, ChannelIndex::SpecNumber> ChannelIndex::specs_on(
    std::string_view name) const {
    const auto* entry = entry_of(name);
    if (entry == nullptr) return {0, 0};
    const auto all = entries();
    const auto* next = entry + 1;
    return {entry->first_spec, next == all.data() + all.size() ? footer().specs : next->first_spec};
}

std::vector<std::string_view> ChannelIndex::mentioned_names() const {
    std::vector<std::string_view> names;
    for (const auto& entry : entries()) {
        if (entry.name.size > 0) names.push_back(directory_text(entry.name));
    }
    return names;
}

Result<std::string_view> ChannelIndex::spec(SpecNumber number) const {
    const auto all = entries();
    auto found =
        std::upper_bound(all.begin(), all.end(), number, [](SpecNumber wanted, const Entry& entry) {
            return wanted < entry.first_spec;
        });
    const auto& entry = *--found;
    GPKG_TRY(const auto* segment, checked(entry));
    return NameRecords(directory_text(entry.name), segment).spec(number);
}

Result<PackageRecord> ChannelIndex::record(const NameRecords& of, const Row& row) const {
    const auto owned = [&](Text piece) { return std::string(of.text(piece)); };
    const auto all_specs = [&](List list) -> Result<std::vector<std::string>> {
        std::vector<std::string> specs;
        for (const auto number : of.specs(list)) {
            GPKG_TRY(const auto text, spec(number));
            specs.emplace_back(text);
        }
        return specs;
    };
    const auto all_texts = [&](List list) {
        std::vector<std::string> texts;
        for (const auto piece : of.texts(list)) texts.push_back(owned(piece));
        return texts;
    };

    PackageRecord record;
    record.name = of.name();
    record.version = of.version(row);
    record.build = owned(row.build);
    record.build_number = row.build_number;
    record.subdir = source_.subdir;
    record.channel = source_.channel;
    record.fn = of.fn(row);
    record.url = url(record.fn);
    if (row.has_md5) record.md5 = to_hex(row.md5);
    if (row.has_sha256) record.sha256 = to_hex(row.sha256);
    record.size = row.size;
    record.timestamp = row.timestamp;
    record.indexed_timestamp = row.indexed_timestamp;
    GPKG_TRY(record.depends, all_specs(row.depends));
    GPKG_TRY(record.constrains, all_specs(row.constrains));
    for (const auto& extra : of.extras(row.extras)) {
        GPKG_TRY(record.extra_depends[owned(extra.group)], all_specs(extra.specs));
    }
    record.flags = all_texts(row.flags);
    record.track_features = all_texts(row.track_features);
    if (row.noarch != Noarch::No)
        record.noarch = row.noarch == Noarch::Python ? "python" : "generic";
    if (row.has_site_packages_path)
        record.python_site_packages_path = owned(row.python_site_packages_path);
    record.license = owned(row.license);
    record.license_family = owned(row.license_family);
    return record;
}

NameRecords::NameRecords(std::string_view name, const char* segment) : name_(name) {
    const auto& head = *at<Segment>(segment);
    const auto* rows = at<Row>(segment + sizeof(Segment));
    const auto* versions = reinterpret_cast<const Text*>(rows + head.rows);
    rows_ = {rows, head.rows};
    versions_ = {versions, head.versions};
    specs_ = {versions + head.versions, head.specs};
    first_spec_ = head.first_spec;
    lists_ = at<std::uint32_t>(segment + head.lists_at);
    texts_ = segment + head.texts_at;
}

std::vector<const ChannelIndex::Row*> NameRecords::choices(
    std::optional<std::int64_t> newest) const {
    const auto is_there = [&](const Row& row) { return !newest || row.appeared() <= *newest; };
    std::vector<const Row*> chosen;
    for (const auto& row : rows_) {
        const bool has_better_twin = row.twin != ChannelIndex::kNoTwin && is_there(rows_[row.twin]);
        if (is_there(row) && !has_better_twin) chosen.push_back(&row);
    }
    return chosen;
}

std::string NameRecords::fn(const Row& row) const {
    return fmt::format(
        "{}-{}-{}{}", name_, version(row), build(row), row.is_conda ? ".conda" : ".tar.bz2");
}

}  // namespace gpkg
