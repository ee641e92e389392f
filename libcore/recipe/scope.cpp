#include "libcore/recipe/scope.hpp"

#include "libcore/hardware/hardware_keys.hpp"
#include "libcore/recipe/tree.hpp"
#include "libcore/recipe/wrong_internal.hpp"
#include "libcore/spec/names.hpp"
#include "libcore/spec/version_spec.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>

namespace gpkg {
namespace {

constexpr std::array<std::string_view, 5> kSystems = {"linux", "osx", "win", "emscripten", "unix"};
constexpr std::array<std::string_view, 8> kProcessors = {
    "x86_64", "aarch64", "armv7l", "ppc64le", "s390x", "sparc64", "riscv64", "arm64"};

// The texts of a call that takes `least` to `most` positional arguments and no named ones.
Result<std::vector<std::string>> texts_of(const CallArguments& arguments,
                                          std::string_view function,
                                          std::size_t count) {
    if (!arguments.named.empty())
        return wrong(fmt::format("{}() has no argument '{}'", function, arguments.named[0].first));
    if (arguments.positional.size() != count)
        return wrong(fmt::format("{}() takes {} argument{}, not {}",
                                 function,
                                 count,
                                 count == 1 ? "" : "s",
                                 arguments.positional.size()));
    std::vector<std::string> texts;
    for (const auto& value : arguments.positional) {
        if (value.is_null() || value.list() != nullptr)
            return wrong(fmt::format("{}() needs a string, found {}", function, value.kind_name()));
        texts.push_back(value.to_text());
    }
    return texts;
}

std::string default_compiler(const std::string& language, std::string_view platform) {
    const bool win = platform.starts_with("win-");
    const bool osx = platform.starts_with("osx-");
    if (language == "c") return win ? "vs2017" : osx ? "clang" : "gcc";
    if (language == "cxx") return win ? "vs2017" : osx ? "clangxx" : "gxx";
    if (language == "fortran") return "gfortran";
    return language;
}

// "gcc_linux-64 =12": a plain version means "that series", as an exact one would hardly ever be
// there; anything else is a version spec already.
std::string toolchain_spec(const std::string& name,
                           std::string_view platform,
                           const std::optional<std::string>& version) {
    auto spec = fmt::format("{}_{}", name, platform);
    if (!version || version->empty()) return spec;
    const bool plain = version->find_first_of("<>=!~*,| ") == std::string::npos;
    return fmt::format("{} {}{}", spec, plain ? "=" : "", *version);
}

Result<Value> match(const CallArguments& arguments) {
    GPKG_TRY(const auto texts, texts_of(arguments, "match", 2));
    // A variant's value may carry a build part: "3.11.* *_cpython".
    auto text = texts[0].substr(0, texts[0].find(' '));
    if (text.ends_with(".*")) text.resize(text.size() - 2);
    GPKG_TRY(const auto version, Version::parse(text));
    GPKG_TRY(const auto spec, VersionSpec::parse(texts[1]));
    return Value(spec.matches(version));
}

Value homogeneous(const Tree& tree, bool& mixed) {
    if (!tree.is_list()) return tree.value;
    Value::List values;
    for (const auto& item : tree.items) {
        mixed = mixed || item.kind != Tree::Kind::Value ||
                item.kind_name() != tree.items.front().kind_name();
        values.push_back(item.value);
    }
    return Value(std::move(values));
}

}  // namespace

std::optional<bool> platform_is(std::string_view platform, std::string_view word) {
    const auto dash = platform.find('-');
    const auto system = platform.substr(0, dash);
    if (word == "unix") return system == "linux" || system == "osx" || system == "emscripten";
    if (std::find(kSystems.begin(), kSystems.end(), word) != kSystems.end()) return system == word;
    // "linux64": conda-build's words, which rattler-build knows as well.
    const auto without_dash = [](std::string_view subdir) {
        std::string name(subdir);
        std::erase(name, '-');
        return name;
    };
    const auto known = known_subdirs();
    if (std::any_of(known.begin(), known.end(), [&](std::string_view subdir) {
            return subdir != "noarch" && without_dash(subdir) == word;
        }))
        return without_dash(platform) == word;
    if (std::find(kProcessors.begin(), kProcessors.end(), word) == kProcessors.end())
        return std::nullopt;
    const auto processor = dash == std::string_view::npos ? "" : platform.substr(dash + 1);
    return word == "x86_64" ? processor == "64" : processor == word;
}

Scope::Scope(const yaml::Node* context, const RenderOptions& options, const Variant& variant)
    : context_(context), options_(options), variant_(variant) {
    names_.variable = [this](std::string_view name) { return variable(name); };
    names_.call = [this](std::string_view name,
                         const CallArguments& arguments) -> Result<std::optional<Value>> {
        const auto found = functions_.find(name);
        if (found == functions_.end()) return std::nullopt;
        GPKG_TRY(auto value, found->second(arguments));
        return value;
    };
    names_.advice = [](std::string_view name) {
        if (find_hardware_key(name) == nullptr) return std::string();
        return fmt::format("set it with --variant {}=VALUE or in variants.yaml", name);
    };
    names_.known = [this] {
        std::vector<std::string> all;
        for (const auto& [name, function] : functions_) all.push_back(name);
        for (const auto& [name, value] : variables_) all.push_back(name);
        for (const auto& [name, value] : variant_) all.push_back(name);
        if (context_ != nullptr) {
            for (const auto& [name, value] : context_->entries()) all.push_back(name);
        }
        all.insert(all.end(), kSystems.begin(), kSystems.end());
        all.insert(all.end(), kProcessors.begin(), kProcessors.end());
        all.insert(all.end(), {"target_platform", "build_platform"});
        return all;
    };
    define("match", match);
    define("compiler", [this](const CallArguments& a) { return compiler(a); });
    define("stdlib", [this](const CallArguments& a) { return stdlib(a); });
    define("cdt", [this](const CallArguments& a) { return cdt(a); });
    define("env.get", [this](const CallArguments& a) { return env_get(a); });
    define("env.exists", [this](const CallArguments& a) { return env_exists(a); });
    for (const auto* word : {"unix", "win", "osx", "linux"}) {
        const auto name = fmt::format("is_{}", word);
        define(name, [name, word](const CallArguments& arguments) -> Result<Value> {
            GPKG_TRY(const auto texts, texts_of(arguments, name, 1));
            return Value(platform_is(texts[0], word).value_or(false));
        });
    }
}

void Scope::define(std::string name, Function function) {
    functions_.insert_or_assign(std::move(name), std::move(function));
}

void Scope::define_variable(std::string name, Value variable) {
    variables_.insert_or_assign(std::move(name), std::move(variable));
}

void Scope::mark_used(const std::string& key) {
    if (variant_.contains(key)) used_.insert(key);
}

std::optional<std::string> Scope::variant_value(const std::string& key) {
    mark_used(key);
    const auto found = variant_.find(key);
    if (found == variant_.end()) return std::nullopt;
    return found->second.text;
}

Result<std::optional<Value>> Scope::variable(std::string_view name) {
    const std::string key(name);
    if (const auto found = variables_.find(name); found != variables_.end()) return found->second;
    // What the context gives does not depend on the variant's key of that name.
    GPKG_TRY(auto own, context_value(key));
    if (own) return own;
    mark_used(key);
    if (auto value = platform_value(name)) return value;
    const auto found = variant_.find(key);
    if (found == variant_.end()) return std::nullopt;
    const auto& [text, is_plain] = found->second;
    if (!is_plain) return Value(text);
    if (text == "true" || text == "false") return Value(text == "true");
    long long number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return Value(number);
}

std::optional<Value> Scope::platform_value(std::string_view name) const {
    if (name == "target_platform" || name == "host_platform")
        return Value(options_.target_platform);
    if (name == "build_platform") return Value(options_.build_platform);
    if (const auto flag = platform_is(options_.target_platform, name)) return Value(*flag);
    return std::nullopt;
}

Result<std::optional<Value>> Scope::context_value(const std::string& name) {
    const auto* node = context_ == nullptr ? nullptr : context_->find(name);
    if (node == nullptr) return std::nullopt;
    if (const auto known = context_values_.find(name); known != context_values_.end())
        return known->second;
    if (!in_progress_.insert(name).second) {
        // "mpi: ${{ mpi or 'nompi' }}" means the variant's.
        if (variant_.contains(name)) return std::nullopt;
        return wrong(fmt::format("the context value '{}' refers to itself", name));
    }
    if (is_plain_float(*node))
        return node->fail(
            fmt::format("the context value {} is a number, not a string", node->text()),
            fmt::format("put it in quotes: \"{}\"", node->text()));
    GPKG_TRY(const auto tree, evaluate_tree(*node, names_));
    bool mixed = tree.is_map();
    auto value = homogeneous(tree, mixed);
    if (mixed)
        return node->fail(fmt::format(
            "the context value '{}' must be a single value or a list of values of one type", name));
    in_progress_.erase(name);
    context_values_.emplace(name, value);
    return value;
}

Result<void> Scope::check_context() {
    if (context_ == nullptr || context_->is_null()) return {};
    if (!context_->is_map())
        return context_->fail(
            fmt::format("expected a map for context, found {}", context_->kind_name()));
    for (const auto& [name, value] : context_->entries()) {
        if (name.empty() || name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRST"
                                                   "UVWXYZ_0123456789") != std::string::npos)
            return fail(ErrorKind::Parse,
                        fmt::format("{}: the context name '{}' cannot be used in an expression",
                                    value.key_place(),
                                    name),
                        "use letters, digits and _");
        const auto checked = context_value(name);
        if (!checked) return pass(checked.error());
    }
    return {};
}

Result<Value> Scope::compiler(const CallArguments& arguments) {
    GPKG_TRY(const auto texts, texts_of(arguments, "compiler", 1));
    mark_used("CONDA_BUILD_SYSROOT");
    const auto name = variant_value(texts[0] + "_compiler");
    const auto version = variant_value(texts[0] + "_compiler_version");
    return Value(toolchain_spec(name ? *name : default_compiler(texts[0], options_.target_platform),
                                options_.target_platform,
                                version));
}

Result<Value> Scope::stdlib(const CallArguments& arguments) {
    GPKG_TRY(const auto texts, texts_of(arguments, "stdlib", 1));
    const auto name = variant_value(texts[0] + "_stdlib");
    const auto version = variant_value(texts[0] + "_stdlib_version");
    if (!name)
        return wrong(
            fmt::format("stdlib('{}') needs the variant key '{}_stdlib'", texts[0], texts[0]));
    return Value(toolchain_spec(*name, options_.target_platform, version));
}

Result<Value> Scope::cdt(const CallArguments& arguments) {
    GPKG_TRY(const auto texts, texts_of(arguments, "cdt", 1));
    const auto name = variant_value("cdt_name");
    const auto arch = variant_value("cdt_arch");
    if (!name || !arch) return wrong("cdt() needs the variant keys 'cdt_name' and 'cdt_arch'");
    return Value(fmt::format("{}-{}-{}", texts[0], *name, *arch));
}

Result<Value> Scope::env_get(const CallArguments& arguments) {
    const auto* fallback = arguments.find("default");
    CallArguments rest{arguments.positional, {}};
    for (const auto& named : arguments.named) {
        if (named.first != "default") rest.named.push_back(named);
    }
    GPKG_TRY(const auto texts, texts_of(rest, "env.get", 1));
    if (options_.environment) {
        if (auto value = options_.environment(texts[0])) return Value(*std::move(value));
    }
    if (fallback != nullptr) return *fallback;
    return wrong(fmt::format("the environment variable {} is not set", texts[0]),
                 fmt::format("use env.get('{}', default='...') for a default value", texts[0]));
}

Result<Value> Scope::env_exists(const CallArguments& arguments) {
    GPKG_TRY(const auto texts, texts_of(arguments, "env.exists", 1));
    return Value(options_.environment && options_.environment(texts[0]).has_value());
}

}  // namespace gpkg
