#include "libcore/config/edit.hpp"

#include "libcore/base/text.hpp"
#include "libcore/config/config_keys_internal.hpp"
#include "libcore/fs/file_system.hpp"
#include "libcore/fs/temporary.hpp"
#include "libcore/fs/turn.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <span>
#include <unistd.h>

namespace gpkg {
namespace {

using Lines = std::vector<std::string>;

bool is_blank_or_comment(std::string_view line) {
    const auto rest = trim(line);
    return rest.empty() || rest.front() == '#';
}

/// Written without the quotes that keep texts texts.
bool is_number_or_truth(std::string_view text) {
    return text == "true" || text == "false" ||
           (!text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos);
}

/// Held from reading a file to writing it, so that of two edits at a time none is lost.
Descriptor turn_to_edit(const fs::path& file) {
    constexpr std::chrono::seconds kLongest(5);
    if (!make_folders(file.parent_path())) return {};
    return wait_for_turn(file.parent_path(), {}, kLongest).value_or(Descriptor());
}

std::size_t indent_of(std::string_view line) {
    return std::min(line.find_first_not_of(" \t"), line.size());
}

/// True for "key:", plain or in quotes.
bool begins_key(std::string_view line, std::string_view key) {
    if (is_blank_or_comment(line)) return false;
    auto rest = trim(line);
    const char first = rest.front();
    if (first == '"' || first == '\'') {
        rest.remove_prefix(1);
        return rest.starts_with(key) && rest.substr(key.size(), 2) == std::string{first, ':'};
    }
    return rest.starts_with(key) && trim(rest.substr(key.size())).starts_with(':');
}

/// "  # why" at the end of a line; what lies in quotes is none.
std::string_view comment_of(std::string_view line) {
    char quote = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (quote != 0) {
            if (c == quote) quote = 0;
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else if (c == '#' && i > 0 && (line[i - 1] == ' ' || line[i - 1] == '\t')) {
            return line.substr(line.find_last_not_of(" \t", i - 1) + 1);
        }
    }
    return {};
}

/// The lines of one key: from the line that names it to its last line that is no comment.
struct Block {
    std::size_t first = 0;
    std::size_t last = 0;  ///< one behind the end
};

/// Among the lines of `within`, at their left margin.
std::optional<Block> find_block(const Lines& lines, std::string_view key, Block within) {
    std::optional<std::size_t> margin;
    std::optional<Block> found;
    for (auto i = within.first; i < within.last; ++i) {
        const auto& line = lines[i];
        if (is_blank_or_comment(line)) continue;
        if (!margin) margin = indent_of(line);
        // A list may stand at the margin of its key.
        const bool inside = indent_of(line) > *margin || trim(line).starts_with("- ");
        if (found && inside) {
            found->last = i + 1;
        } else if (found) {
            break;
        } else if (indent_of(line) == *margin && begins_key(line, key)) {
            found = Block{i, i + 1};
        }
    }
    return found;
}

/// The value of a line "  - value  # comment"; nothing for other lines.
std::optional<std::string> list_item(std::string_view line) {
    const auto text = trim(line);
    if (!text.starts_with("- ")) return std::nullopt;
    const auto node = yaml::Node::parse(text.substr(2), "");
    return node && node->is_scalar() ? std::optional(node->text()) : std::nullopt;
}

/// The configuration file taken apart, and put back when the change is a good one.
class Editor {
public:
    static Result<Editor> open(const ConfigTarget& target, std::string_view key) {
        GPKG_TRY(auto place, place_of(key));
        auto lock = turn_to_edit(target.file);
        auto text = read_file(target.file, kLongestWritten);
        if (!text && text.error().kind == ErrorKind::NotFound) text = std::string();
        if (!text) return pass(text.error());
        GPKG_TRY(auto root, yaml::Node::parse(*text, target.file.native()));
        // The same thing in conda's word must not end up beside ours.
        for (const auto& [name, value] : root.entries()) {
            if (const auto* row = find_row(name); row != nullptr && row->key.name == place.name)
                place.name = name;
        }
        return Editor(target, std::move(place), *text, std::move(root), std::move(lock));
    }

    /// A list, or what stands for one name of a map.
    bool is_list() const { return place_.shape != ConfigKey::Shape::Value; }
    bool has_key() const { return node_in(before_) != nullptr; }

    Result<std::vector<std::string>> values() const {
        const auto* node = node_in(before_);
        if (node == nullptr) return std::vector<std::string>{};
        return node->as_texts(place_.name);
    }

    void write_values(const std::vector<std::string>& values) {
        const bool in_map = !place_.entry.empty();
        const std::string margin = in_map ? "  " : "";
        const auto name = in_map ? yaml::quote(place_.entry) : place_.name;
        Lines block;
        if (place_.shape == ConfigKey::Shape::Value || (in_map && values.size() == 1)) {
            const auto& value = values.front();
            block.push_back(fmt::format(
                "{}{}: {}", margin, name, is_number_or_truth(value) ? value : yaml::quote(value)));
        } else if (values.empty()) {
            block.push_back(fmt::format("{}{}: []", margin, name));
        } else {
            block.push_back(fmt::format("{}{}:", margin, name));
            for (const auto& value : values)
                block.push_back(fmt::format("{}  - {}", margin, yaml::quote(value)));
        }
        replace_block(block);
    }

    /// Adds one line to a list that has a line for each item; false when it has not.
    bool insert_line(const std::string& value, ListEnd end) {
        const auto items = item_lines();
        if (items.empty()) return false;
        const auto& model = lines_[end == ListEnd::Front ? items.front() : items.back()];
        const auto line = model.substr(0, model.find('-')) + "- " + yaml::quote(value);
        const auto at = end == ListEnd::Front ? items.front() : items.back() + 1;
        lines_.insert(lines_.begin() + static_cast<std::ptrdiff_t>(at), line);
        return true;
    }

    /// Removes the one line of `value`; false when it has none of its own.
    bool remove_line(const std::string& value) {
        const auto items = item_lines();
        const auto found = std::find_if(items.begin(), items.end(), [&](std::size_t i) {
            return list_item(lines_[i]) == value;
        });
        // Without items the key alone would remain, which reads as nothing at all.
        if (found == items.end() || items.size() == 1) return false;
        lines_.erase(lines_.begin() + static_cast<std::ptrdiff_t>(*found));
        return true;
    }

    /// The last name of a map goes with the map, unless comments stand in it.
    void remove_key() {
        const auto key = key_block();
        const auto entry = block();
        if (key && entry && key->last - key->first == entry->last - entry->first + 1)
            place_.entry.clear();
        replace_block({});
    }

    /// Checks that nothing but the key is different and that it can be loaded, and writes.
    Result<void> save(const std::vector<std::string>& expected) {
        std::string text;
        for (const auto& line : lines_) text.append(line).append(ends_);
        const auto& file = target_.file;
        if (!says(text, expected))
            return fail(
                ErrorKind::Unsupported,
                fmt::format("{}: cannot edit '{}' automatically", file.native(), place_.name),
                "edit the file with a text editor");
        // An error is about the value, not about its place in the file.
        if (auto checked =
                check_config_key(text, file, place_.name, target_.environment, target_.config);
            !checked) {
            auto refused = std::move(checked).error();
            if (refused.message.starts_with(file.native()))
                refused.message.replace(0, refused.message.find(": "), place_.name);
            refused.kind = ErrorKind::Usage;
            return pass(std::move(refused));
        }
        // A link to a file kept elsewhere stays a link.
        const auto written = behind_links(file);
        remove_dead_temporaries_of(written);
        return write_file_atomically(written, text);
    }

private:
    /// "channels", or "custom_channels.mine": what stands for one name of a map.
    struct Place {
        std::string name;  ///< of the key as it stands in the file
        std::string entry;
        ConfigKey::Shape shape = ConfigKey::Shape::Value;
    };

    static Result<Place> place_of(std::string_view key) {
        const auto dot = std::min(key.find('.'), key.size());
        GPKG_TRY(const auto known, find_config_key(key.substr(0, dot)));
        Place place{std::string(known.name),
                    std::string(key.substr(std::min(dot + 1, key.size()))),
                    known.shape};
        if (dot < key.size() && known.shape != ConfigKey::Shape::Map)
            return fail(ErrorKind::Usage, fmt::format("{}: {} is not a map", key, known.name));
        if (dot < key.size() && place.entry.empty())
            return fail(ErrorKind::Usage, fmt::format("{}: a name is missing after the dot", key));
        return place;
    }

    Editor(const ConfigTarget& target,
           Place place,
           std::string_view text,
           yaml::Node before,
           Descriptor lock)
        : target_(target),
          place_(std::move(place)),
          before_(std::move(before)),
          lock_(std::move(lock)) {
        for (auto line : split(text, '\n')) {
            if (line.ends_with('\r')) line.remove_suffix(1);
            lines_.emplace_back(line);
        }
        ends_ = text.find("\r\n") == std::string_view::npos ? "\n" : "\r\n";
        if (lines_.back().empty()) lines_.pop_back();
    }

    /// Whether a text gives the key these values, and all others what they had.
    bool says(std::string_view text, const std::vector<std::string>& expected) const {
        const auto after = yaml::Node::parse(text, target_.file.native());
        if (!after) return false;
        const auto* node = node_in(*after);
        const auto values =
            node == nullptr ? Lines{} : node->as_texts(place_.name).value_or(Lines{});
        return values == expected && others_are_same(*after);
    }

    const yaml::Node* node_in(const yaml::Node& root) const {
        const auto* node = root.find(place_.name);
        return node == nullptr || place_.entry.empty() ? node : node->find(place_.entry);
    }

    std::optional<Block> key_block() const {
        return find_block(lines_, place_.name, {0, lines_.size()});
    }
    std::optional<Block> block() const {
        const auto key = key_block();
        if (!key || place_.entry.empty()) return key;
        return find_block(lines_, place_.entry, {key->first + 1, key->last});
    }

    std::vector<std::size_t> item_lines() const {
        std::vector<std::size_t> items;
        const auto lines = block();
        if (!lines) return items;
        for (auto i = lines->first + 1; i < lines->last; ++i) {
            if (list_item(lines_[i])) items.push_back(i);
        }
        return items;
    }

    void replace_block(Lines with) {
        const auto at = [&](std::size_t i) {
            return lines_.begin() + static_cast<std::ptrdiff_t>(i);
        };
        if (const auto old = block()) {
            if (!with.empty()) with.front() += comment_of(lines_[old->first]);
            lines_.insert(lines_.erase(at(old->first), at(old->last)), with.begin(), with.end());
            return;
        }
        if (with.empty()) return;
        const auto key = place_.entry.empty() ? std::nullopt : key_block();
        if (key) {
            lines_.insert(at(key->last), with.begin(), with.end());
            return;
        }
        if (!place_.entry.empty()) lines_.push_back(place_.name + ":");
        lines_.insert(lines_.end(), with.begin(), with.end());
    }

    static bool same_but(const yaml::Node& a, const yaml::Node& b, std::string_view name) {
        const auto has_all = [&](const yaml::Node& from, const yaml::Node& to) {
            return std::all_of(from.entries().begin(), from.entries().end(), [&](const auto& e) {
                return e.first == name ||
                       (to.find(e.first) != nullptr && equal(e.second, *to.find(e.first)));
            });
        };
        return has_all(a, b) && has_all(b, a);
    }

    bool others_are_same(const yaml::Node& after) const {
        if (!same_but(before_, after, place_.name)) return false;
        const auto* now = after.find(place_.name);
        const auto* then = before_.find(place_.name);
        return place_.entry.empty() || now == nullptr || then == nullptr ||
               same_but(*then, *now, place_.entry);
    }

    static bool equal(const yaml::Node& a, const yaml::Node& b) {
        const auto& x = a.entries();
        const auto& y = b.entries();
        return a.kind() == b.kind() && a.text() == b.text() && x.size() == y.size() &&
               std::equal(
                   a.items().begin(), a.items().end(), b.items().begin(), b.items().end(), equal) &&
               std::equal(x.begin(), x.end(), y.begin(), [](const auto& p, const auto& q) {
                   return p.first == q.first && equal(p.second, q.second);
               });
    }

    const ConfigTarget& target_;
    Place place_;
    yaml::Node before_;
    Descriptor lock_;
    Lines lines_;
    std::string_view ends_ = "\n";
};

/// The values of a key, whichever file they come from. Environment variables do not count: their
/// values hold for one shell and must not be written to a file.
std::vector<std::string> values_in_force(const Config& current, std::string_view key) {
    const auto& config = current.by_files ? *current.by_files : current;
    const auto dot = std::min(key.find('.'), key.size());
    for (const auto& shown : settings_as_text(config)) {
        if (shown.key != key.substr(0, dot)) continue;
        for (const auto& [name, values] : shown.entries) {
            if (dot < key.size() && name == key.substr(dot + 1)) return values;
        }
        return shown.values;
    }
    return {};
}

/// Whether what several files say of a key counts together, so that none repeats another.
bool adds_up(std::string_view key) {
    return key == "allowlist_channels" || key == "denylist_channels";
}

tl::unexpected<Error> not_found(const ConfigTarget& target, std::string_view what) {
    return fail(ErrorKind::NotFound, fmt::format("{}: {}", target.file.native(), what));
}

Result<Editor> open_list(const ConfigTarget& target, std::string_view key) {
    GPKG_TRY(auto editor, Editor::open(target, key));
    if (!editor.is_list())
        return fail(ErrorKind::Usage,
                    fmt::format("{} is not a list", key),
                    fmt::format("gpkg config set {} VALUE", key));
    return editor;
}

/// Of a map, one name is changed at a time.
Result<void> check_names_one(std::string_view key) {
    GPKG_TRY(const auto known, find_config_key(key.substr(0, key.find('.'))));
    if (known.shape != ConfigKey::Shape::Map || key.find('.') != std::string_view::npos) return {};
    return fail(ErrorKind::Usage,
                fmt::format("{} is a map; set one name at a time", key),
                key == "trusted_keys" ? "gpkg config append trusted_keys.CHANNEL_URL KEY"
                                      : fmt::format("gpkg config set {}.NAME VALUE", key));
}

}  // namespace

Result<void> set_config(const ConfigTarget& target,
                        std::string_view key,
                        const std::vector<std::string>& values) {
    GPKG_CHECK(check_names_one(key));
    GPKG_TRY(auto editor, Editor::open(target, key));
    if (!editor.is_list() && values.size() != 1)
        return fail(ErrorKind::Usage, fmt::format("{} takes one value", key));
    const bool empties = editor.is_list() && values == std::vector<std::string>{"[]"};
    const auto written = empties ? std::vector<std::string>{} : values;
    editor.write_values(written);
    return editor.save(written);
}

Result<bool> add_to_config(const ConfigTarget& target,
                           std::string_view key,
                           const std::string& value,
                           ListEnd end) {
    GPKG_CHECK(check_names_one(key));
    GPKG_TRY(auto editor, open_list(target, key));
    GPKG_TRY(auto values, editor.values());
    if (!editor.has_key() && !adds_up(key)) values = values_in_force(target.config, key);
    if (std::find(values.begin(), values.end(), value) != values.end()) return false;
    values.insert(end == ListEnd::Front ? values.begin() : values.end(), value);
    if (!editor.has_key() || !editor.insert_line(value, end)) editor.write_values(values);
    GPKG_CHECK(editor.save(values));
    return true;
}

Result<void> remove_from_config(const ConfigTarget& target,
                                std::string_view key,
                                const std::string& value,
                                const std::function<std::string(std::string_view)>& shown) {
    GPKG_CHECK(check_names_one(key));
    GPKG_TRY(auto editor, open_list(target, key));
    GPKG_TRY(auto values, editor.values());
    auto found = std::find(values.begin(), values.end(), value);
    if (found == values.end() && shown)
        found = std::find_if(
            values.begin(), values.end(), [&](const auto& one) { return shown(one) == value; });
    if (found == values.end())
        return not_found(target, fmt::format("{} does not contain '{}'", key, value));
    const auto removed = *found;
    values.erase(found);
    if (!editor.remove_line(removed)) editor.write_values(values);
    return editor.save(values);
}

Result<void> unset_config(const ConfigTarget& target, std::string_view key) {
    GPKG_TRY(auto editor, Editor::open(target, key));
    if (!editor.has_key()) return not_found(target, fmt::format("{} is not set", key));
    editor.remove_key();
    return editor.save({});
}

}  // namespace gpkg
