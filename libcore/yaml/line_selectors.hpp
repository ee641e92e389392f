#pragma once

// Selectors in comments, as environment.yml (CEP 24) and conda_build_config.yaml have them: what
// follows YAML's `#` decides whether the line counts. They are read from the text, line by line,
// before it is YAML.

#include "libcore/base/error.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg::yaml {

/// Whether the expression of a selector holds; nothing where it is a remark, an error where it is
/// meant as a selector and is none.
using EvaluateSelector = std::function<Result<std::optional<bool>>(std::string_view expression)>;

struct SelectedText {
    std::string text;  ///< with as many lines as before
    bool has_selectors = false;
    bool has_dropped = false;         ///< some of the lines count elsewhere
    std::vector<std::string> places;  ///< "FILE:3: [optional]", of remarks in brackets
    /// The same of selectors behind a remark, which select nothing.
    std::vector<std::string> behind;
};

/// Empties the lines whose `# [expression]` is false, together with what is nested below them. A
/// comment with more than the brackets that holds no expression is a remark, and so is all within a
/// block of text (`|` and `>`). `where` begins errors.
Result<SelectedText> select_lines(std::string_view text,
                                  const std::string& where,
                                  const EvaluateSelector& evaluate);

}  // namespace gpkg::yaml
