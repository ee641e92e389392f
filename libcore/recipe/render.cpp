#include "libcore/recipe/render.hpp"

#include "libcore/recipe/renderer.hpp"
#include "libcore/recipe/variant_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>

namespace gpkg {
namespace {

/// Renders a recipe for every variant that makes a difference. What that is shows only when it is
/// rendered: a key may be read in one variant and not in another.
class Expansion {
public:
    Expansion(const Recipe& recipe, const RenderOptions& options, const VariantConfig& config)
        : recipe_(recipe), options_(options), config_(config) {}

    Result<std::vector<RenderedOutput>> run() && {
        GPKG_CHECK(expand({}));
        return std::move(outputs_);
    }

private:
    /// With what is `decided`, for all values of what is not.
    Result<void> expand(const Variant& decided) {
        if (++rendered_ > kMostRendered)
            return recipe_.root.fail(
                fmt::format("too many variants, more than {}: {}",
                            kMostRendered,
                            fmt::join(counts_of(decided), ", ")),
                "combine keys with zip_keys, or choose one with --variant KEY=VALUE");
        auto variant = config_.first();
        for (const auto& [key, value] : decided) variant[key] = value;
        GPKG_TRY(auto rendering, render_variant(recipe_, options_, variant));
        for (const auto& key : rendering.decisive) {
            if (decided.contains(key)) continue;
            const auto choices = config_.choices(key);
            if (choices.size() < 2) continue;
            for (auto choice : choices) {
                choice.insert(decided.begin(), decided.end());
                GPKG_CHECK(expand(choice));
            }
            return {};
        }
        for (auto& output : rendering.outputs) {
            if (made_
                    .insert(output.subdir + "/" + output.distribution() +
                            hash_input_text(output.used_variant))
                    .second)
                outputs_.push_back(std::move(output));
        }
        return {};
    }

    /// "python 4": how many values each key has.
    std::vector<std::string> counts_of(const Variant& decided) const {
        std::vector<std::string> counts;
        counts.reserve(decided.size());
        for (const auto& [key, value] : decided)
            counts.push_back(fmt::format("{} {}", key, config_.choices(key).size()));
        return counts;
    }

    static constexpr std::size_t kMostRendered = 5000;
    const Recipe& recipe_;
    const RenderOptions& options_;
    const VariantConfig& config_;
    std::size_t rendered_ = 0;
    std::set<std::string> made_;
    std::vector<RenderedOutput> outputs_;
};

/// Two packages that differ must not have one file name.
Result<void> check_names(const Recipe& recipe, const std::vector<RenderedOutput>& outputs) {
    std::map<std::string, const RenderedOutput*> by_name;
    for (const auto& output : outputs) {
        const auto [known, is_new] =
            by_name.emplace(output.subdir + "/" + output.distribution(), &output);
        if (is_new) continue;
        return recipe.root.fail(
            fmt::format("two variants of {} have the same file name {}: {} and {}",
                        output.name,
                        output.distribution(),
                        hash_input_text(known->second->used_variant),
                        hash_input_text(output.used_variant)),
            "add ${{ hash }} to build.string");
    }
    return {};
}

}  // namespace

Result<std::vector<RenderedOutput>> render_recipe(const Recipe& recipe,
                                                  const RenderOptions& options) {
    GPKG_TRY(const auto config, variants_for(recipe, options));
    GPKG_TRY(auto outputs, Expansion(recipe, options, config).run());
    GPKG_CHECK(check_names(recipe, outputs));
    return outputs;
}

}  // namespace gpkg
