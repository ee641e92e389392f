#include "libcore/asking/posed_request.hpp"

#include "libcore/asking/earlier_wishes.hpp"
#include "libcore/base/erase_places.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace gpkg {
namespace {

class Changing {
public:
    explicit Changing(PosedRequest& posed) : posed_(posed), own_(posed.wanted.specs.size()) {}

    Result<void> make(const ProblemChange& change) {
        using Kind = ProblemChange::Kind;
        switch (change.kind) {
        case Kind::ReplaceSpec: return replace(change);
        case Kind::DropSpec: drop(change.index); break;
        case Kind::DropConstraint: lift(change.index); break;
        case Kind::LetChange: return ask_for(change.spec);
        case Kind::SetAccelerator: free_accelerator(change.name); break;
        case Kind::SetPriority:
        case Kind::AllowNewer:
        case Kind::SetMachine: outside_.push_back(change); break;
        }
        return {};
    }

    /// What leaves does so only now: until here every place means what it meant.
    Result<void> finish() {
        auto& [wanted, present, problem] = posed_;
        erase_places(wanted.specs, dropped_);
        erase_places(present.pins, lifted_);
        // What an update holds to depends on the machine.
        GPKG_TRY(problem, with_changes(std::move(problem), outside_));
        problem.request = request_of(wanted, present, problem.virtual_packages);
        return {};
    }

private:
    std::map<std::string, AcceleratorChoice>& accelerators() {
        return posed_.wanted.accelerators.of_package;
    }

    /// To say it is to name the package, as it was asked for if it was.
    void free_accelerator(const std::string& name) {
        accelerators()[name] = AcceleratorChoice::Auto;
        auto& specs = posed_.wanted.specs;
        if (std::ranges::find(specs, name, &MatchSpec::name) == specs.end())
            specs.push_back(as_asked_before(name, posed_.present.wishes));
    }

    /// The spec, once what it says of its accelerator is taken.
    Result<MatchSpec> read(const std::string& text) {
        GPKG_TRY(auto asked, AskedSpec::parse(text));
        if (asked.accelerator) accelerators()[asked.spec.name] = *asked.accelerator;
        return std::move(asked.spec);
    }

    Result<void> ask_for(const std::string& text) {
        GPKG_TRY(auto spec, read(text));
        posed_.wanted.specs.push_back(std::move(spec));
        return {};
    }

    /// An earlier wish, or what is only there, is named by it.
    Result<void> replace(const ProblemChange& change) {
        if (change.index >= own_) return ask_for(change.spec);
        GPKG_TRY(auto spec, read(change.spec));
        auto& own = posed_.wanted.specs[change.index];
        // What was said of its accelerator goes with it to another name.
        if (auto said = accelerators().extract(own.name)) {
            said.key() = spec.name;
            accelerators().insert(std::move(said));
        }
        own = std::move(spec);
        return {};
    }

    void drop(std::size_t place) {
        if (place < own_) {
            dropped_.insert(place);
            return;
        }
        const auto& name = posed_.problem.request.specs.at(place).name;
        auto& present = posed_.present;
        std::erase_if(present.wishes, [&](const auto& wish) { return wish.name == name; });
        std::erase_if(present.records, [&](const auto& one) { return one.name() == name; });
    }

    void lift(std::size_t place) {
        if (place < posed_.present.pins.size()) {
            lifted_.insert(place);
            return;
        }
        MatchSpec named;
        named.name = posed_.problem.request.constraints.at(place).spec.name;
        posed_.wanted.specs.push_back(std::move(named));
    }

    PosedRequest& posed_;
    std::size_t own_;  ///< specs that are asked for; those behind them in the problem are earlier
    std::set<std::size_t> dropped_;
    std::set<std::size_t> lifted_;
    std::vector<ProblemChange> outside_;  ///< of what the problem is put to
};

}  // namespace

Result<void> make_changes(PosedRequest& posed, const std::vector<ProblemChange>& changes) {
    Changing changing(posed);
    for (const auto& change : changes) GPKG_CHECK(changing.make(change));
    return changing.finish();
}

}  // namespace gpkg
