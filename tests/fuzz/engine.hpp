#pragma once

// What a fuzz target consists of. engine.cpp throws mutated seeds at it, a few seconds in every
// test run; libfuzzer.cpp lets clang's engine do that for hours (cmake --preset fuzz).

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

/// Tries one input; aborts when a promise is broken.
void fuzz_one(std::string_view input);
/// Inputs that reach far, to begin with.
std::vector<std::string> fuzz_seeds();
/// The seeds, and what is kept in corpus/NAME.hex: one input a line, together all that clang's
/// engine has reached so far.
std::vector<std::string> fuzz_corpus();
/// Bytes that mean something to the target.
std::string_view fuzz_alphabet();

/// Prints the reason and the input, and ends the program.
[[noreturn]] inline void fuzz_stop(const char* reason, std::string_view input) {
    std::fprintf(stderr, "%s: ", reason);
    for (const char c : input.substr(0, 4000))
        std::fprintf(
            stderr, c >= ' ' && c <= '~' ? "%c" : "\\x%02x", static_cast<unsigned char>(c));
    std::fprintf(stderr, "\n");
    std::abort();
}
