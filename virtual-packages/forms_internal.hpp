#pragma once

// What the YAML forms of this folder share: profiles, detectors' files and detectors' answers.

#include "libcore/yaml/node.hpp"
#include "virtual-packages/profile.hpp"

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace gpkg::virtual_packages {

/// What a document is, and the key that says so with the number of its format.
struct Form {
    std::string_view what;  ///< "hardware profile"
    std::string_view key;   ///< "gpkg_profile"
    std::string_view hint;  ///< where one comes from
    /// Aliases make a small text unfold into a huge one: no honest document has as many values.
    std::size_t most_values;
};

/// The document as a map of that form and format 1.
Result<yaml::Node> parse_form(std::string_view text, const std::string& where, const Form& form);

/// Refuses keys that are none of `known`.
Result<void> check_keys(const yaml::Node& map, std::initializer_list<std::string_view> known);

/// The text below `key`; nothing when it is left out, or where there is no parent.
Result<std::optional<std::string>> find_text(const yaml::Node* parent, std::string_view key);

/// The list below `key`; null when it is left out. `of` says what it lists.
Result<const yaml::Node*> find_list(const yaml::Node& parent,
                                    std::string_view key,
                                    std::string_view of);

Result<GpuDevice> read_gpu(const yaml::Node& node);

/// {name, version, build} with a name that is free for detectors; version and build may be left
/// out.
Result<VirtualPackage> read_virtual_package(const yaml::Node& node);
/// The same but for the version, which may be anything.
Result<VirtualPackage> read_name_and_build(const yaml::Node& node);

}  // namespace gpkg::virtual_packages
