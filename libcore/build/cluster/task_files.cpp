#include "libcore/build/cluster/task_files.hpp"

#include "libcore/base/json_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace gpkg {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr const char* kOrder = "order.json";
constexpr const char* kAnswer = "answer.json";

Result<OrderedJson> read_json(const fs::path& file) {
    GPKG_TRY(const auto text, read_file(file));
    auto document = OrderedJson::parse(text, nullptr, false);
    if (!document.is_object())
        return fail(ErrorKind::Parse, fmt::format("{}: not a JSON object", file.native()));
    return document;
}

OrderedJson json_of(const std::vector<TaskFailure>& failures) {
    auto list = OrderedJson::array();
    for (const auto& [distribution, error] : failures)
        list.push_back({{"package", distribution},
                        {"kind", static_cast<int>(error.kind)},
                        {"message", error.message},
                        {"hint", error.hint},
                        {"context", error.context},
                        {"details", error.details}});
    return list;
}

std::vector<TaskFailure> failures_of(const OrderedJson& list) {
    std::vector<TaskFailure> failures;
    for (const auto& entry : list) {
        auto& failure = failures.emplace_back();
        failure.distribution = entry.at("package");
        failure.error.kind = static_cast<ErrorKind>(entry.at("kind").get<int>());
        failure.error.message = entry.at("message");
        failure.error.hint = entry.at("hint");
        failure.error.context = entry.at("context").get<std::vector<std::string>>();
        failure.error.details = entry.at("details");
    }
    return failures;
}

std::vector<std::string> texts_of(const std::vector<fs::path>& paths) {
    std::vector<std::string> texts;
    texts.reserve(paths.size());
    for (const auto& path : paths) texts.push_back(path.native());
    return texts;
}

std::vector<fs::path> paths_of(const OrderedJson& texts) {
    std::vector<fs::path> paths;
    for (const auto& text : texts) paths.emplace_back(text.get<std::string>());
    return paths;
}

/// `read` of a document of this gpkg's own making; what is missing from it is an error.
template <typename Value, typename Read>
Result<Value> value_of(const fs::path& file, Read read) {
    GPKG_TRY(const auto document, read_json(file));
    try {
        return read(document);
    } catch (const OrderedJson::exception& problem) {
        return fail(ErrorKind::Parse, fmt::format("{}: {}", file.native(), problem.what()));
    }
}

Result<void> write_document(const fs::path& file, const OrderedJson& document) {
    return write_file_atomically(file, json_text(document, 1) + "\n");
}

}  // namespace

bool TaskOrder::is_as(const TaskOrder& other) const {
    return builds == other.builds && builds_packages == other.builds_packages &&
           tests_packages == other.tests_packages;
}

Result<void> write_order(const fs::path& folder, const TaskOrder& order) {
    const OrderedJson document{{"recipes", texts_of(order.recipes)},
                               {"builds", order.builds},
                               {"staged", texts_of(order.staged)},
                               {"failed", order.failed},
                               {"builds_packages", order.builds_packages},
                               {"tests_packages", order.tests_packages},
                               {"work", order.work.native()}};
    return write_document(folder / kOrder, document);
}

Result<TaskOrder> read_order(const fs::path& folder) {
    return value_of<TaskOrder>(folder / kOrder, [](const OrderedJson& document) {
        TaskOrder order;
        order.recipes = paths_of(document.at("recipes"));
        order.builds = document.at("builds").get<decltype(order.builds)>();
        order.staged = paths_of(document.at("staged"));
        order.failed = document.at("failed").get<decltype(order.failed)>();
        order.builds_packages = document.at("builds_packages");
        order.tests_packages = document.at("tests_packages");
        order.work = document.at("work").get<std::string>();
        return order;
    });
}

Result<void> write_answer(const fs::path& folder, const TaskAnswer& answer) {
    const OrderedJson document{{"node", answer.node},
                               {"warnings", answer.warnings},
                               {"failures", json_of(answer.failures)},
                               {"failed_tests", json_of(answer.failed_tests)}};
    return write_document(folder / kAnswer, document);
}

Result<void> remove_answer(const fs::path& folder) { return remove_tree(folder / kAnswer); }

Result<std::optional<TaskAnswer>> read_answer(const fs::path& folder) {
    auto answer = value_of<TaskAnswer>(folder / kAnswer, [](const OrderedJson& document) {
        TaskAnswer found;
        found.node = document.at("node");
        found.warnings = document.at("warnings").get<decltype(found.warnings)>();
        found.failures = failures_of(document.at("failures"));
        found.failed_tests = failures_of(document.at("failed_tests"));
        return found;
    });
    if (answer) return *std::move(answer);
    if (answer.error().kind == ErrorKind::NotFound) return std::nullopt;
    return pass(std::move(answer).error());
}

std::string difference(const BuildInputs& ordered, const BuildInputs& here) {
    std::vector<std::string> differ;
    for (const auto& [what, digest] : ordered) {
        const auto found = here.find(what);
        if (found == here.end() || found->second != digest) differ.push_back(what);
    }
    for (const auto& [what, digest] : here) {
        if (!ordered.contains(what)) differ.push_back(what);
    }
    return fmt::format("{}", fmt::join(differ, ", "));
}

}  // namespace gpkg
