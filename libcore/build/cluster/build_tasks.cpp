#include "libcore/build/cluster/build_tasks.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace gpkg {
namespace {

using Edges = std::vector<std::set<std::size_t>>;  ///< of each node, those that come before it

/// Tarjan's strongly connected components: a number for each node, smaller for what comes before.
class Components {
public:
    explicit Components(const Edges& edges) : edges_(edges), nodes_(edges.size()) {
        for (std::size_t i = 0; i < edges.size(); ++i) {
            if (nodes_[i].index == 0) visit(i);
        }
    }

    std::size_t of(std::size_t node) const { return nodes_[node].component; }
    std::size_t count() const { return count_; }

private:
    struct Node {
        std::size_t index = 0;  ///< from 1
        std::size_t low = 0;
        std::size_t component = 0;
        bool on_stack = false;
    };
    /// A node on the way, and where among its edges the way goes on.
    struct Frame {
        std::size_t node;
        std::set<std::size_t>::const_iterator next;
    };

    void enter(std::size_t node, std::vector<Frame>& way) {
        nodes_[node].index = nodes_[node].low = ++last_index_;
        nodes_[node].on_stack = true;
        stack_.push_back(node);
        way.push_back({node, edges_[node].begin()});
    }

    void visit(std::size_t root) {
        std::vector<Frame> way;
        enter(root, way);
        while (!way.empty()) {
            auto& [node, next] = way.back();
            if (next != edges_[node].end()) {
                const auto other = *next++;
                if (nodes_[other].index == 0)
                    enter(other, way);
                else if (nodes_[other].on_stack)
                    nodes_[node].low = std::min(nodes_[node].low, nodes_[other].index);
                continue;
            }
            const auto done = node;
            way.pop_back();
            if (!way.empty()) {
                auto& above = nodes_[way.back().node];
                above.low = std::min(above.low, nodes_[done].low);
            }
            if (nodes_[done].low == nodes_[done].index) close(done);
        }
    }

    void close(std::size_t root) {
        for (std::optional<std::size_t> last; last != root;) {
            last = stack_.back();
            stack_.pop_back();
            nodes_[*last].on_stack = false;
            nodes_[*last].component = count_;
        }
        ++count_;
    }

    const Edges& edges_;
    std::vector<Node> nodes_;
    std::vector<std::size_t> stack_;
    std::size_t last_index_ = 0;
    std::size_t count_ = 0;
};

class TaskMaker {
public:
    explicit TaskMaker(const BuildPlan& plan) : plan_(plan), portion_of_(plan.builds.size()) {
        std::map<std::string, std::size_t> places;
        for (std::size_t i = 0; i < plan.builds.size(); ++i) {
            if (!plan.builds[i].is_needed()) continue;
            const auto [place, is_new] = places.emplace(plan.builds[i].place, places.size());
            portion_of_[i] = place->second;
        }
        count_ = places.size();
    }

    std::vector<BuildTask> run() {
        auto needs = edges(&PlannedBuild::after);
        const auto others = edges(&PlannedBuild::after_others);
        auto all = needs;
        for (std::size_t i = 0; i < count_; ++i) all[i].insert(others[i].begin(), others[i].end());
        // What only comes along has to do as it is where it would go in a circle.
        const Components circles(all);
        for (std::size_t i = 0; i < count_; ++i) {
            for (const auto other : others[i]) {
                if (circles.of(i) != circles.of(other)) needs[i].insert(other);
            }
        }
        const Components joined(needs);
        make_tasks(needs, joined);
        find_waves();
        find_tests();
        return std::move(tasks_);
    }

private:
    Edges edges(std::vector<std::size_t> PlannedBuild::*makers) const {
        Edges found(count_);
        for (std::size_t i = 0; i < plan_.builds.size(); ++i) {
            if (!portion_of_[i]) continue;
            for (const auto maker : plan_.builds[i].*makers) {
                if (portion_of_[maker] && portion_of_[maker] != portion_of_[i])
                    found[*portion_of_[i]].insert(*portion_of_[maker]);
            }
        }
        return found;
    }

    void make_tasks(const Edges& needs, const Components& joined) {
        // Components in the order in which the plan comes to them.
        std::map<std::size_t, std::size_t> numbers;
        task_of_.resize(plan_.builds.size());
        for (std::size_t i = 0; i < plan_.builds.size(); ++i) {
            if (!portion_of_[i]) continue;
            const auto component = joined.of(*portion_of_[i]);
            const auto [number, is_new] = numbers.emplace(component, tasks_.size());
            if (is_new) tasks_.emplace_back();
            tasks_[number->second].builds.push_back(i);
            task_of_[i] = number->second;
        }
        std::vector<std::set<std::size_t>> after(tasks_.size());
        for (std::size_t i = 0; i < count_; ++i) {
            const auto own = numbers.at(joined.of(i));
            for (const auto other : needs[i]) {
                const auto before = numbers.at(joined.of(other));
                if (before != own) after[own].insert(before);
            }
        }
        // By component, what comes before has a smaller number.
        for (const auto& [component, number] : numbers) {
            tasks_[number].after.assign(after[number].begin(), after[number].end());
            order_.push_back(number);
        }
    }

    void find_waves() {
        for (const auto i : order_) {
            for (const auto other : tasks_[i].after)
                tasks_[i].wave = std::max(tasks_[i].wave, tasks_[other].wave + 1);
        }
    }

    void find_tests() {
        std::vector<std::vector<bool>> before(tasks_.size());
        for (const auto i : order_) {
            before[i].resize(tasks_.size());
            before[i][i] = true;
            for (const auto other : tasks_[i].after) {
                for (std::size_t j = 0; j < tasks_.size(); ++j) {
                    if (before[other][j]) before[i][j] = true;
                }
            }
            for (const auto build : tasks_[i].builds) {
                for (const auto maker : plan_.builds[build].tested_with) {
                    if (task_of_[maker] && !before[i][*task_of_[maker]]) tasks_[i].can_test = false;
                }
            }
        }
    }

    const BuildPlan& plan_;
    std::vector<std::optional<std::size_t>> portion_of_;  ///< of each build that is needed
    std::size_t count_ = 0;                               ///< of portions
    std::vector<std::optional<std::size_t>> task_of_;
    std::vector<BuildTask> tasks_;
    std::vector<std::size_t> order_;  ///< of tasks, each after those that it needs
};

}  // namespace

std::vector<BuildTask> build_tasks(const BuildPlan& plan) { return TaskMaker(plan).run(); }

}  // namespace gpkg
