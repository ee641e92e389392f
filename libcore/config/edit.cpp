#include "libcore/config/edit.hpp"

#include "libcore/base/text.hpp"
#include "libcore/config/config_file_internal.hpp"
#include "libcore/yaml/node.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <span>

namespace gpkg {
namespace {

using Lines = std::vector<std::string>;

bool is_blank_or_comment(std::string_view line) {
    const auto rest = trim(line);
    return rest.empty() || rest.front() == '#';
}

/// Written without the quotes that keep texts texts.
bool is_number(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// True for "key:" at the left margin, plain or in quotes.
bool begins_key(std::string_view line, std::string_view key) {
    const auto colon = line.find(':');
    if (colon == std::string_view::npos || is_blank_or_comment(line)) return false;
    auto name = trim(line.substr(0, colon));
    if (line.front() == ' ' || line.front() == '\t') return false;
    if (name.size() >= 2 && (name.front() == '"' || name.front() == '\'') &&
        name.front() == name.back())
        name = name.substr(1, name.size() - 2);
    return name == key;
}

/// The lines of one key: from the line that names it to its last line that is no comment.
struct Block {
    std::size_t first = 0;
    std::size_t last = 0;  ///< one behind the end
};

std::optional<Block> find_block(const Lines& lines, std::string_view key) {
    const auto named = std::find_if(
        lines.begin(), lines.end(), [&](const auto& line) { return begins_key(line, key); });
    if (named == lines.end()) return std::nullopt;
    Block block;
    block.first = static_cast<std::size_t>(named - lines.begin());
    block.last = block.first + 1;
    for (auto i = block.last; i < lines.size(); ++i) {
        if (is_blank_or_comment(lines[i])) continue;
        // A list may stand at the margin of its key.
        const bool inside =
            lines[i].front() == ' ' || lines[i].front() == '\t' || lines[i].starts_with("- ");
        if (!inside) break;
        block.last = i + 1;
    }
    return block;
}

/// The value of a line "  - value  # comment"; nothing for other lines.
std::optional<std::string> list_item(std::string_view line) {
    const auto text = trim(line);
    if (!text.starts_with("- ")) return std::nullopt;
    const auto node = yaml::Node::parse(text.substr(2), "");
    return node && node->is_scalar() ? std::optional(node->text()) : std::nullopt;
}

/// The config file taken apart, and put back when the change is a good one.
class Editor {
public:
    static Result<Editor> open(const Config& config, std::string_view key) {
        GPKG_TRY(const auto known, find_config_key(key));
        auto text = read_file(config.file, kLongestWritten);
        if (!text && text.error().kind == ErrorKind::NotFound) text = std::string();
        if (!text) return pass(text.error());
        GPKG_TRY(auto root, yaml::Node::parse(*text, config.file.native()));
        // The same thing in conda's word must not end up beside ours.
        const bool as_subdir = key == "platform" && root.find("subdir") != nullptr;
        return Editor(config, known, as_subdir ? "subdir" : std::string(key), *text, root);
    }

    const ConfigKey& key() const { return key_; }
    bool has_key() const { return before_.find(name_) != nullptr; }

    Result<std::vector<std::string>> values() const {
        const auto* node = before_.find(name_);
        if (node == nullptr) return std::vector<std::string>{};
        return node->as_texts(name_);
    }

    void write_values(const std::vector<std::string>& values) {
        Lines block;
        if (!key_.is_list) {
            const auto& value = values.front();
            block.push_back(
                fmt::format("{}: {}", name_, is_number(value) ? value : yaml::quote(value)));
        } else if (values.empty()) {
            block.push_back(name_ + ": []");
        } else {
            block.push_back(name_ + ":");
            for (const auto& value : values) block.push_back("  - " + yaml::quote(value));
        }
        replace_block(block);
    }

    /// Adds one line to a list that has a line for each item; false when it has not.
    bool insert_line(const std::string& value, ListEnd end) {
        const auto block = find_block(lines_, name_);
        const auto items = item_lines();
        if (!block || items.empty()) return false;
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

    void remove_key() { replace_block({}); }

    /// Checks that nothing but the key is different and that the result can be loaded, and writes.
    Result<void> save(const std::vector<std::string>& expected) {
        std::string text;
        for (const auto& line : lines_) text.append(line).append("\n");
        Config trial = config_;
        // The file was in order before: what is wrong is the value, wherever it would stand.
        if (auto applied = apply_config_file(text, config_.file, trial); !applied) {
            auto refused = std::move(applied).error();
            if (refused.message.starts_with(config_.file.native()))
                refused.message.replace(0, refused.message.find(": "), name_);
            refused.kind = ErrorKind::Usage;
            return pass(std::move(refused));
        }
        GPKG_TRY(const auto after, yaml::Node::parse(text, config_.file.native()));
        const auto* node = after.find(name_);
        const auto values =
            node == nullptr ? std::vector<std::string>{} : node->as_texts(name_).value_or(Lines{});
        if (values != expected || !others_are_same(after))
            return fail(ErrorKind::Unsupported,
                        fmt::format("{}: '{}' stands there in a way that gpkg cannot change",
                                    config_.file.native(),
                                    name_),
                        "edit the file by hand");
        // A link to a file kept elsewhere stays a link.
        std::error_code ignored;
        const auto real = fs::weakly_canonical(config_.file, ignored);
        return write_file_atomically(real.empty() ? config_.file : real, text);
    }

private:
    Editor(const Config& config,
           ConfigKey key,
           std::string name,
           std::string_view text,
           yaml::Node before)
        : config_(config), key_(key), name_(std::move(name)), before_(std::move(before)) {
        for (const auto line : split(text, '\n')) lines_.emplace_back(line);
        if (lines_.back().empty()) lines_.pop_back();
    }

    std::vector<std::size_t> item_lines() const {
        std::vector<std::size_t> items;
        const auto block = find_block(lines_, name_);
        if (!block) return items;
        for (auto i = block->first + 1; i < block->last; ++i) {
            if (list_item(lines_[i])) items.push_back(i);
        }
        return items;
    }

    void replace_block(const Lines& with) {
        auto at = lines_.end();
        if (const auto block = find_block(lines_, name_)) {
            const auto first = lines_.begin() + static_cast<std::ptrdiff_t>(block->first);
            const auto last = lines_.begin() + static_cast<std::ptrdiff_t>(block->last);
            at = lines_.erase(first, last);
        }
        lines_.insert(at, with.begin(), with.end());
    }

    bool others_are_same(const yaml::Node& after) const {
        const auto same = [&](const yaml::Node& from, const yaml::Node& to) {
            return std::all_of(from.entries().begin(), from.entries().end(), [&](const auto& e) {
                return e.first == name_ ||
                       (to.find(e.first) != nullptr && equal(e.second, *to.find(e.first)));
            });
        };
        return same(before_, after) && same(after, before_);
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

    const Config& config_;
    ConfigKey key_;
    std::string name_;  ///< of the key as it stands in the file
    yaml::Node before_;
    Lines lines_;
};

tl::unexpected<Error> not_there(const Config& config, std::string_view what) {
    return fail(ErrorKind::NotFound,
                fmt::format("{}: {} is not there", config.file.native(), what));
}

Result<Editor> open_list(const Config& config, std::string_view key) {
    GPKG_TRY(auto editor, Editor::open(config, key));
    if (!editor.key().is_list)
        return fail(ErrorKind::Usage,
                    fmt::format("{}: not a list", key),
                    fmt::format("gpkg config set {} VALUE", key));
    return editor;
}

}  // namespace

Result<void> set_config(const Config& config,
                        std::string_view key,
                        const std::vector<std::string>& values) {
    GPKG_TRY(auto editor, Editor::open(config, key));
    if (!editor.key().is_list && values.size() != 1)
        return fail(ErrorKind::Usage, fmt::format("{}: it has one value", key));
    editor.write_values(values);
    return editor.save(values);
}

Result<bool> add_to_config(const Config& config,
                           std::string_view key,
                           const std::string& value,
                           ListEnd end) {
    GPKG_TRY(auto editor, open_list(config, key));
    GPKG_TRY(auto values, editor.values());
    if (!editor.has_key()) {
        const auto shown = shown_settings(config);
        const auto now = std::find_if(
            shown.begin(), shown.end(), [&](const ShownSetting& one) { return one.key == key; });
        if (now != shown.end()) values = now->values;
    }
    if (std::find(values.begin(), values.end(), value) != values.end()) return false;
    values.insert(end == ListEnd::Front ? values.begin() : values.end(), value);
    if (!editor.has_key() || !editor.insert_line(value, end)) editor.write_values(values);
    GPKG_CHECK(editor.save(values));
    return true;
}

Result<void> remove_from_config(const Config& config,
                                std::string_view key,
                                const std::string& value) {
    GPKG_TRY(auto editor, open_list(config, key));
    GPKG_TRY(auto values, editor.values());
    const auto found = std::find(values.begin(), values.end(), value);
    if (found == values.end()) return not_there(config, fmt::format("'{}' in {}", value, key));
    values.erase(found);
    if (!editor.remove_line(value)) editor.write_values(values);
    return editor.save(values);
}

Result<void> unset_config(const Config& config, std::string_view key) {
    GPKG_TRY(auto editor, Editor::open(config, key));
    if (!editor.has_key()) return not_there(config, key);
    editor.remove_key();
    return editor.save({});
}

}  // namespace gpkg
