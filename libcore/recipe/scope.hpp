#pragma once

// What names mean while a recipe is rendered: context, variant keys, platforms and the functions of
// CEP 39. Remembers which variant keys were read: they are what a build string is hashed from.

#include "libcore/recipe/expression.hpp"
#include "libcore/recipe/render.hpp"

#include <map>
#include <set>

namespace gpkg {

class Scope {
public:
    /// `context` may be null. `variant` gives each key its value. All references outlive the scope.
    Scope(const yaml::Node* context, const RenderOptions& options, const Variant& variant);
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

    const Names& names() const { return names_; }
    /// The variant keys read since the scope was made.
    const std::set<std::string>& used() const { return used_; }
    void mark_used(const std::string& key);

    /// Evaluates the whole context, so that an error in an entry that nothing uses is told as well.
    Result<void> check_context();

    /// pin_subpackage() and the like, which need to know the other outputs.
    using Function = std::function<Result<Value>(const CallArguments&)>;
    void define(std::string name, Function function);
    void define_variable(std::string name, Value variable);

private:
    Result<std::optional<Value>> variable(std::string_view name);
    Result<std::optional<Value>> context_value(const std::string& name);
    std::optional<Value> platform_value(std::string_view name) const;
    std::optional<std::string> variant_value(const std::string& key);

    Result<Value> compiler(const CallArguments& arguments);
    Result<Value> stdlib(const CallArguments& arguments);
    Result<Value> cdt(const CallArguments& arguments);
    Result<Value> env_get(const CallArguments& arguments);
    Result<Value> env_exists(const CallArguments& arguments);

    const yaml::Node* context_;
    const RenderOptions& options_;
    const Variant& variant_;
    std::set<std::string> used_;
    std::map<std::string, Value> context_values_;
    std::set<std::string> in_progress_;
    std::map<std::string, Function, std::less<>> functions_;
    std::map<std::string, Value, std::less<>> variables_;
    Names names_;
};

/// True for the operating system (linux, osx, win, emscripten, unix) or processor (x86_64, aarch64,
/// ...) of a platform such as "linux-64"; no value when `word` is no such word.
std::optional<bool> platform_is(std::string_view platform, std::string_view word);

}  // namespace gpkg
