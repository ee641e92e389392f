#include "libcore/fs/arriving_file.hpp"

#include "libcore/fs/file.hpp"
#include "tests/support/catch.hpp"

#include <fcntl.h>
#include <future>
#include <thread>
#include <unistd.h>

using namespace gpkg;
using namespace std::chrono_literals;

namespace arriving_file_test {
namespace {

struct Fixture {
    TemporaryFolder folder = TemporaryFolder::make(fs::temp_directory_path()).value();
    fs::path path = folder.path() / "file";
    Descriptor written{::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666)};
    std::shared_ptr<ArrivingFile> file = ArrivingFile::open(path).value();
    ByteSource source = ArrivingFile::source(file);

    void write(std::string_view bytes) {
        REQUIRE(write_fully(written.get(), bytes));
        file->grow(bytes.size());
    }
    /// What one call gives.
    Result<std::string> piece(std::size_t room = 100) const {
        std::string bytes(room, '\0');
        GPKG_TRY(const auto count, source(bytes.data(), room));
        bytes.resize(count);
        return bytes;
    }
    std::future<Result<std::string>> later() const {
        return std::async(std::launch::async, [this] { return piece(); });
    }
};

bool is_waiting(const std::future<Result<std::string>>& call) {
    return call.wait_for(50ms) == std::future_status::timeout;
}

}  // namespace

TEST_CASE("a file is read as far as it is there", "[fs]") {
    Fixture f;
    f.write("hello");
    CHECK(f.piece(3) == "hel");
    CHECK(f.piece() == "lo");
    auto next = f.later();
    CHECK(is_waiting(next));
    f.write("you");
    CHECK(next.get() == "you");
    fs::remove(f.path);
    next = f.later();
    CHECK(is_waiting(next));
    f.file->complete();
    CHECK(next.get() == "");
    CHECK(f.piece() == "");
}

TEST_CASE("bytes that are written and not yet told of are not read", "[fs]") {
    Fixture f;
    f.write("hello");
    REQUIRE(write_fully(f.written.get(), "you"));
    CHECK(f.piece() == "hello");
}

TEST_CASE("nobody waits for a file that is abandoned", "[fs]") {
    Fixture f;
    f.write("hello");
    const bool was_complete = GENERATE(false, true);
    if (was_complete) f.file->complete();
    REQUIRE(f.piece(1));
    auto next = was_complete ? std::future<Result<std::string>>() : [&] {
        REQUIRE(f.piece());
        return f.later();
    }();
    f.file->abandon();
    f.file->complete();
    if (next.valid()) CHECK(next.get().error().kind == ErrorKind::Interrupted);
    CHECK(f.piece().error().kind == ErrorKind::Interrupted);
    CHECK_FALSE(f.file->wait_for(1));
}

TEST_CASE("a size is waited for", "[fs]") {
    Fixture f;
    f.write("hello");
    CHECK(f.file->wait_for(5));
    auto six = std::async(std::launch::async, [&] { return f.file->wait_for(6); });
    CHECK(six.wait_for(50ms) == std::future_status::timeout);
    SECTION("and comes") {
        f.write("!");
        CHECK(six.get());
    }
    SECTION("and does not come") {
        f.file->complete();
        CHECK_FALSE(six.get());
    }
}

TEST_CASE("a file that is shorter than was told is an error", "[fs]") {
    Fixture f;
    f.file->grow(5);
    CHECK(f.piece().error().kind == ErrorKind::Io);
}

}  // namespace arriving_file_test
