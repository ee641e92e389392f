#include "libcore/trust/index_statement.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/base/json_text.hpp"
#include "libcore/trust/fields_internal.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gpkg {
namespace {

constexpr std::string_view kIndexesType = "gpkg-channel-indexes";
/// Clocks of machines differ.
constexpr std::int64_t kClockTolerance = std::int64_t{24} * 3600;

Result<IndexStatement::Files> read_files(const trust_fields::Object& subdir) {
    IndexStatement::Files files;
    for (const auto [name, value] : subdir.members()) {
        simdjson::dom::array list;
        if (value.get(list) != simdjson::SUCCESS)
            return subdir.malformed(fmt::format("'{}' is not a list", name));
        auto& versions = files[std::string(name)];
        for (const auto item : list) {
            trust_fields::Object one(subdir.what());
            GPKG_CHECK(one.open(item));
            SignedFile file;
            GPKG_TRY(file.size, one.number("size"));
            GPKG_TRY(file.sha256, one.text("sha256"));
            if (!is_hex(file.sha256, 64)) return one.malformed("has an invalid 'sha256'");
            versions.push_back(std::move(file));
        }
    }
    return files;
}

}  // namespace

std::string IndexStatement::to_text() const {
    nlohmann::ordered_json json;
    json["type"] = kIndexesType;
    json["format"] = 1;
    json["version"] = version;
    json["root"] = root;
    json["made"] = trust_fields::time_text(made);
    json["expires"] = trust_fields::time_text(expires);
    json["subdirs"] = nlohmann::ordered_json::object();
    for (const auto& [subdir, files] : subdirs) {
        auto& of_subdir = json["subdirs"][subdir] = nlohmann::ordered_json::object();
        for (const auto& [name, versions] : files) {
            for (const auto& one : versions)
                of_subdir[name].push_back({{"size", one.size}, {"sha256", one.sha256}});
        }
    }
    return json_text(json, 1);
}

Result<IndexStatement> IndexStatement::parse(std::string_view text, const std::string& what) {
    simdjson::dom::parser parser;
    const simdjson::padded_string padded(text);
    trust_fields::Object object(what);
    GPKG_CHECK(object.open(parser, padded));
    GPKG_CHECK(object.check_type(kIndexesType));
    IndexStatement statement;
    GPKG_TRY(statement.version, object.number("version"));
    GPKG_TRY(statement.root, object.number("root"));
    GPKG_TRY(statement.made, object.time("made"));
    GPKG_TRY(statement.expires, object.time("expires"));
    GPKG_TRY(const auto subdirs, object.object("subdirs"));
    for (const auto [name, value] : subdirs.members()) {
        trust_fields::Object subdir(what);
        GPKG_CHECK(subdir.open(value));
        GPKG_TRY(statement.subdirs[std::string(name)], read_files(subdir));
    }
    return statement;
}

Result<void> IndexStatement::check_time(std::int64_t now, const std::string& what) const {
    if (made > now + kClockTolerance)
        return distrust(TrustFault::Clock,
                        fmt::format("{}: was signed at {}, later than this machine's clock ({})",
                                    what,
                                    trust_fields::time_text(made),
                                    trust_fields::time_text(now)),
                        "set the clock of this machine");
    if (now < expires) return {};
    return distrust(
        TrustFault::Expired,
        fmt::format("{}: the signature expired at {} (now: {})",
                    what,
                    trust_fields::time_text(expires),
                    trust_fields::time_text(now)),
        "check the clock; otherwise the channel's operator must run gpkg index --sign-key again");
}

const IndexStatement::Files* IndexStatement::files_of(std::string_view subdir) const {
    const auto found = subdirs.find(subdir);
    return found == subdirs.end() ? nullptr : &found->second;
}

bool lists(const IndexStatement::Files& files, std::string_view name, std::string_view sha256) {
    const auto found = files.find(name);
    return found != files.end() &&
           std::any_of(found->second.begin(), found->second.end(), [&](const auto& file) {
               return file.sha256 == sha256;
           });
}

Result<IndexStatement> read_statement(const ChannelRoot& root,
                                      std::string_view bytes,
                                      const std::string& what) {
    GPKG_TRY(const auto text, SignedText::parse(bytes, what));
    GPKG_CHECK(text.verify(root.index, what));
    return IndexStatement::parse(text.text(), what);
}

}  // namespace gpkg
