// What would be built, and why.

#include "libcore/build/builder.hpp"
#include "libcore/build/built_register.hpp"

#include <fmt/format.h>
#include <map>
#include <optional>

namespace gpkg {
namespace {

class Plan {
public:
    explicit Plan(const BuildOptions& options) : options_(options) {}

    Result<std::vector<PlannedBuild>> run(const std::vector<fs::path>& files) {
        recipes_.reserve(files.size());
        for (const auto& file : files) {
            GPKG_TRY(auto recipe, load_recipe(file));
            recipes_.push_back(std::move(recipe));
            GPKG_TRY(auto outputs, render_recipe(recipes_.back(), options_.render));
            for (auto& output : outputs)
                outputs_.push_back({&recipes_.back(), std::move(output), std::nullopt, false});
        }
        for (std::size_t i = 0; i < outputs_.size(); ++i)
            makers_.emplace(outputs_[i].rendered.name, i);
        std::vector<PlannedBuild> planned;
        for (auto& output : outputs_) {
            GPKG_CHECK(decide(output));
            planned.push_back(
                {output.recipe->file, output.rendered.distribution(), *output.reason});
        }
        return planned;
    }

private:
    struct Output {
        const Recipe* recipe = nullptr;
        RenderedOutput rendered;
        std::optional<std::string> reason;
        bool in_progress = false;
    };

    Result<void> decide(Output& output) {
        if (output.reason) return {};
        if (output.in_progress)
            return fail(
                ErrorKind::Unsupported,
                fmt::format("{}: recipes need each other to be built", output.rendered.name));
        output.in_progress = true;
        GPKG_TRY(output.reason, why(output));
        return {};
    }

    /// Empty when it is as it was.
    Result<std::string> why(const Output& output) {
        if (options_.rebuild) return "--rebuild";
        const BuiltRegister built(options_);
        GPKG_TRY(const auto inputs, build_inputs(*output.recipe, output.rendered, options_));
        for (const auto& name : names_needed_to_build(output.rendered)) {
            const auto [first, last] = makers_.equal_range(name);
            for (auto at = first; at != last; ++at) {
                auto& maker = outputs_[at->second];
                if (&maker == &output) continue;
                GPKG_CHECK(decide(maker));
                if (!maker.reason->empty())
                    return fmt::format("it needs {}, which is built anew",
                                       maker.rendered.distribution());
            }
        }
        GPKG_TRY(const auto reason, built.why_build(output.rendered, inputs));
        return reason.value_or("");
    }

    const BuildOptions& options_;
    std::vector<Recipe> recipes_;
    std::vector<Output> outputs_;
    std::multimap<std::string, std::size_t> makers_;
};

}  // namespace

Result<std::vector<PlannedBuild>> plan_builds(const std::vector<fs::path>& recipes,
                                              const BuildOptions& options) {
    return Plan(options).run(recipes);
}

}  // namespace gpkg
