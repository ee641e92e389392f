#include "libcore/redist/component_split_internal.hpp"

#include <algorithm>

namespace gpkg {
namespace {

using Texts = std::vector<std::string>;

/// Packages in the order in which they take files: of those whose globs match one, the first
/// gets it, because the others exclude these globs.
Texts claim_order(const ComponentFacts& facts) {
    Texts names;
    for (const auto part : {RedistPart::Docs, RedistPart::Stubs, RedistPart::Static}) {
        if (!facts.main.contains(part)) names.push_back(facts.package_of(part));
    }
    names.push_back(facts.package);
    for (const auto part : {RedistPart::Dev, RedistPart::Tools}) {
        if (!facts.main.contains(part)) names.push_back(facts.package_of(part));
    }
    return names;
}

}  // namespace

ComponentSplit::ComponentSplit(const ComponentRecipeInput& of)
    : input(of),
      listing(listing_of(of, of.component.key)),
      facts(facts_of(of.component.key)),
      layout(layout_of(of.component, of.choice.platform)),
      cuda(cuda_version_of(of.manifest, of.choice)) {
    if (listing != nullptr) layout.plain_libraries = listing->plain_libraries;
    for (const auto part : redist_parts()) {
        if (part == RedistPart::Activation) continue;
        const bool never = part == RedistPart::Runtime && !facts.has_runtime;
        if (listing != nullptr ? listing->parts.contains(part) : !never) parts.insert(part);
    }
    if (facts.main.contains(RedistPart::Activation)) parts.insert(RedistPart::Activation);
}

Texts ComponentSplit::packages() const {
    Texts names;
    for (const auto part : {RedistPart::Runtime,
                            RedistPart::Stubs,
                            RedistPart::Static,
                            RedistPart::Dev,
                            RedistPart::Tools,
                            RedistPart::Docs,
                            RedistPart::Activation}) {
        if (!parts.contains(part)) continue;
        auto name = facts.package_of(part);
        if (std::find(names.begin(), names.end(), name) == names.end())
            names.push_back(std::move(name));
    }
    return names;
}

std::set<RedistPart> ComponentSplit::parts_of(const std::string& package) const {
    std::set<RedistPart> inside;
    for (const auto part : parts) {
        if (facts.package_of(part) == package) inside.insert(part);
    }
    return inside;
}

PackageFiles ComponentSplit::files_of(const std::string& package) const {
    PackageFiles files;
    const auto add_globs = [&](const std::string& of, Texts& to) {
        for (const auto part : parts_of(of)) {
            const auto globs = layout.globs(part);
            to.insert(to.end(), globs.begin(), globs.end());
        }
    };
    add_globs(package, files.include);
    for (const auto& before : claim_order(facts)) {
        if (before == package) break;
        add_globs(before, files.exclude);
    }
    return files;
}

const RedistListing* listing_of(const ComponentRecipeInput& input, const std::string& key) {
    const auto found = input.listings.find(key);
    return found == input.listings.end() ? nullptr : &found->second;
}

}  // namespace gpkg
