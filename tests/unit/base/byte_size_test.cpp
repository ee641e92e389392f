#include "libcore/base/byte_size.hpp"

#include "tests/support/catch.hpp"

using namespace gpkg;

TEST_CASE("numbers of bytes as people write them", "[base]") {
    struct Row {
        std::string text;
        std::uint64_t bytes;  ///< 0: refused
    };
    const auto row = GENERATE(values<Row>({
        {"3GB", 3'000'000'000},
        {"1.5 GiB", 1'610'612'736},
        {"700M", 700'000'000},
        {" 2kb ", 2000},
        {"4KiB", 4096},
        {"1TB", 1'000'000'000'000},
        {"123456", 123456},
        {"12 B", 12},
        {"0.001MB", 1000},
        {"3GBB", 0},
        {"3 G B", 0},
        {"3XB", 0},
        {"3iB", 0},
        {"GB", 0},
        {"", 0},
        {"-3GB", 0},
        {"0", 0},
        {"0GB", 0},
        {"1.2.3GB", 0},
        {"1e3", 0},
        {"99999999999TB", 0},
        {"3,5GB", 0},
    }));
    const auto size = parse_byte_size(row.text);
    INFO(row.text);
    CHECK((size ? *size : 0) == row.bytes);
    if (!size) CHECK(size.error().kind == ErrorKind::Usage);
}
