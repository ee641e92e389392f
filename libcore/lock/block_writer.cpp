#include "libcore/lock/block_writer_internal.hpp"
#include "libcore/yaml/node.hpp"

#include <fmt/format.h>

namespace gpkg::lock {

void BlockWriter::write(int depth,
                        std::string_view dash,
                        std::string_view key,
                        std::string_view yaml) {
    text_.append(static_cast<std::size_t>(depth) * 2, ' ');
    text_ += dash;
    if (!key.empty()) text_ += yaml::quote(key) + ":";
    if (!key.empty() && !yaml.empty()) text_ += ' ';
    text_ += yaml;
    text_ += '\n';
}

void BlockWriter::open(int depth, std::string_view key) { write(depth, "", key, ""); }

void BlockWriter::line(int depth, std::string_view key, std::string_view value) {
    if (!value.empty()) write(depth, "", key, yaml::quote(value));
}

void BlockWriter::line(int depth, std::string_view key, std::uint64_t value) {
    write(depth, "", key, std::to_string(value));
}

void BlockWriter::as_is(int depth, std::string_view key, std::string_view yaml) {
    write(depth, "", key, yaml);
}

void BlockWriter::as_is(int depth, const std::map<std::string, std::string>& kept) {
    for (const auto& [key, yaml] : kept) write(depth, "", key, yaml);
}

void BlockWriter::list(int depth, std::string_view key, std::span<const std::string> values) {
    if (values.empty()) return;
    open(depth, key);
    for (const auto& value : values) item(depth, value);
}

void BlockWriter::item(int depth, std::string_view value) {
    write(depth, "- ", "", yaml::quote(value));
}

void BlockWriter::item(int depth, std::string_view key, std::string_view value) {
    write(depth, "- ", key, yaml::quote(value));
}

}  // namespace gpkg::lock
