#include "libcore/hardware/variant_inputs.hpp"

#include "tests/support/catch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace gpkg;

TEST_CASE("of what packages were built with, what tells them apart is shown", "[spec]") {
    using Inputs = VariantInputs;
    struct Row {
        std::string expected;
        std::vector<std::optional<Inputs>> builds;
    };
    // The builds are, by their records: CUDA 12.9 with Python 3.12, none of both, CUDA 12.9
    // with 3.13.
    const std::vector<VariantColumns> columns{{"nvidia", "12.9", "", "", "mkl", "nompi", "3.12"},
                                              {"none", "", "", "", "openblas", "nompi", ""},
                                              {"nvidia", "12.9", "", "", "mkl", "nompi", "3.13"}};
    const std::vector<Row> rows{
        {"", {}},
        {"", {std::nullopt, std::nullopt}},
        {"", {Inputs{{"a", "1"}}}},
        {"", {Inputs{{"a", "1"}}, Inputs{{"a", "1"}}}},
        {"a", {Inputs{{"a", "1"}}, Inputs{{"a", "2"}}}},
        {"a", {Inputs{{"a", "1"}}, Inputs{}}},
        // Nothing is not something else.
        {"", {Inputs{{"a", "1"}}, std::nullopt}},
        {"a", {Inputs{{"a", "1"}}, std::nullopt, Inputs{{"a", "2"}}}},
        // What a column says already.
        {"",
         {Inputs{{"python", "3.12.* *_cp312"}}, Inputs{}, Inputs{{"python", "3.13.* *_cp313"}}}},
        {"",
         {Inputs{{"cuda_compiler_version", "12.9"}}, Inputs{{"cuda_compiler_version", "None"}}}},
        {"", {Inputs{{"blas_impl", "mkl"}}, Inputs{{"blas_impl", "openblas"}}}},
        {"blas_impl", {Inputs{{"blas_impl", "mkl"}}, Inputs{{"blas_impl", "generic"}}}},
        {"python", {Inputs{{"python", "3.12"}}, Inputs{{"python", "3.13"}}}},
        // In other words than the column.
        {"", {Inputs{{"accel", "cuda"}}, Inputs{{"accel", "cpu"}}}},
        {"accel", {Inputs{{"accel", "cuda"}}, Inputs{{"accel", "cpu"}}, Inputs{{"accel", "rocm"}}}},
        // A name whose version says as much, and one whose version does not.
        {"x_version",
         {Inputs{{"x", "p"}, {"x_version", "1"}}, Inputs{{"x", "q"}, {"x_version", "2"}}}},
        {"x", {Inputs{{"x", "p"}, {"x_version", "1"}}, Inputs{{"x", "q"}, {"x_version", "1"}}}},
        {"x x_version",
         {Inputs{{"x", "p"}, {"x_version", "1"}},
          Inputs{{"x", "q"}, {"x_version", "1"}},
          Inputs{{"x", "q"}, {"x_version", "2"}}}},
        // Of those that say the same in the same words one stands for all.
        {"a; b", {Inputs{{"a", "1"}, {"b", "1"}}, Inputs{{"a", "2"}, {"b", "2"}}}},
        // What was built on comes last, and of many there are only so many.
        {"z c_compiler_version",
         {Inputs{{"c_compiler_version", "13"}, {"z", "1"}},
          Inputs{{"c_compiler_version", "14"}, {"z", "2"}}}},
        {"d e f; __glibc channel_targets",
         {Inputs{{"__glibc", "1"}, {"channel_targets", "a"}, {"d", "b"}, {"e", "c"}, {"f", "d"}},
          Inputs{}}},
    };
    for (const auto& row : rows) {
        std::vector<VariantBuild> builds;
        for (std::size_t i = 0; i < row.builds.size(); ++i)
            builds.push_back({columns.at(i), row.builds[i]});
        const auto telling = telling_inputs(builds, 3);
        auto text = fmt::format("{}", fmt::join(telling.keys, " "));
        if (!telling.more.empty()) text += fmt::format("; {}", fmt::join(telling.more, " "));
        CHECK(text == row.expected);
    }
}
