#pragma once

// What the questions of gpkg repoquery have in common.

#include "cli/context.hpp"
#include "cli/options.hpp"
#include "cli/workflow/ask/found.hpp"

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace gpkg::cli::repoquery {

using Json = nlohmann::ordered_json;

struct Query {
    TargetOptions target;
    SourceOptions sources;
    std::string text;
    bool installed = false;
    bool recursive = false;
    bool tree = false;
    bool invert = false;
    bool all = false;
    bool info = false;
    std::size_t depth = 0;  ///< levels of a tree below its root; 0: all

    /// Of the environment that is asked; none: the channels are.
    std::optional<fs::path> prefix;
    MatchSpec spec;
};

/// The document of every answer: what was asked, and the result.
Json document(const Query& query, std::string_view type, Json result);

Result<int> depends(Context& context, const Query& query);
Result<int> tree(Context& context, const Query& query);
Result<int> whoneeds(Context& context, const Query& query);
/// What needs it, what needs that, and so on, in an environment.
Result<int> inverted_tree(Context& context, const Query& query);

/// A part of a tree: a line, and whose parts stand below it.
struct Branch {
    std::string text;
    std::optional<std::size_t> place;
};

/// Draws trees whose parts are numbered. What stands below a part is drawn once, with all trees
/// that one TreePrinter draws; then "(*)" stands for it.
class TreePrinter {
public:
    using Branches = std::function<std::vector<Branch>(std::size_t place)>;

    /// `depth` as in Query.
    TreePrinter(Output& out, std::size_t depth, Branches branches)
        : out_(out), depth_(depth), branches_(std::move(branches)) {}
    void draw(const std::string& title, std::size_t root);
    /// Says what "(*)" means, where it was used.
    void finish();

private:
    /// What is still to be drawn below a part.
    struct Open {
        std::vector<Branch> branches;
        std::size_t next = 0;
        std::string indent;
    };

    Output& out_;
    std::size_t depth_;
    Branches branches_;
    std::set<std::size_t> drawn_;
    bool has_repeated_ = false;
};

}  // namespace gpkg::cli::repoquery
