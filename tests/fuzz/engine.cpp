// A small engine with a fixed seed: NAME_fuzz [INPUTS] [SEED]. First all of the corpus as it is,
// then what becomes of it with a few bytes changed.

#include "tests/fuzz/engine.hpp"

#include <algorithm>
#include <chrono>
#include <random>

namespace {

constexpr std::size_t kLongest = std::size_t{1} << 20U;

class Mutator {
public:
    Mutator(std::vector<std::string> seeds, std::uint64_t seed)
        : seeds_(std::move(seeds)), random_(seed) {}

    std::string next() {
        auto text = seeds_[below(seeds_.size())];
        for (auto changes = below(6); changes > 0; --changes) change(text);
        return text;
    }

private:
    std::size_t below(std::size_t limit) {
        return limit == 0 ? 0 : static_cast<std::size_t>(random_() % limit);
    }

    void change(std::string& text) {
        const auto alphabet = fuzz_alphabet();
        const auto place = below(text.size() + 1);
        const char letter =
            below(20) == 0 ? static_cast<char>(below(256)) : alphabet[below(alphabet.size())];
        const auto& other = seeds_[below(seeds_.size())];
        switch (below(7)) {
        case 0: text.insert(place, 1, letter); break;
        case 1: text.erase(place, 1 + below(4)); break;
        case 2: text.insert(place, text.substr(below(text.size() + 1), below(40))); break;
        case 3: text.insert(place, other.substr(below(other.size() + 1), below(200))); break;
        case 4: text.insert(place, below(200), letter); break;
        case 5: text.resize(place); break;
        default:
            if (place < text.size()) text[place] = letter;
        }
        text.resize(std::min(text.size(), kLongest));
    }

    std::vector<std::string> seeds_;
    std::mt19937_64 random_;
};

}  // namespace

int main(int count, char** words) try {
    const long inputs = count > 1 ? std::atol(words[1]) : GPKG_FUZZ_INPUTS;
    auto seeds = fuzz_corpus();
    for (const auto& seed : seeds) fuzz_one(seed);
    Mutator mutator(std::move(seeds), count > 2 ? std::strtoull(words[2], nullptr, 10) : 20260821U);
    using Clock = std::chrono::steady_clock;
    for (long i = 0; i < inputs; ++i) {
        const auto input = mutator.next();
        const auto before = Clock::now();
        fuzz_one(input);
        if (Clock::now() - before > std::chrono::seconds(2)) fuzz_stop("slow", input);
    }
    std::printf("%ld inputs, no crash\n", inputs);
    return 0;
} catch (const std::exception& problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return 1;
}
