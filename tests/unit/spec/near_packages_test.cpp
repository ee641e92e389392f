#include "libcore/spec/near_packages.hpp"

#include "tests/support/catch.hpp"

using namespace gpkg;

TEST_CASE("near packages are those a person may have meant", "[spec]") {
    using Names = std::vector<std::string>;
    const Names names{"beautifulsoup4",
                      "libtensorpipe0",
                      "libtorch",
                      "nilearn",
                      "numba",
                      "numpy",
                      "numpy",
                      "opencv",
                      "pillow",
                      "python",
                      "pytorch",
                      "scikit-learn",
                      "torchvision"};
    CHECK(near_packages("nunpy", names) == Names{"numpy"});
    CHECK(near_packages("sklearn", names) == Names{"scikit-learn"});
    CHECK(near_packages("PIL", names) == Names{"pillow"});
    CHECK(near_packages("bs4", names) == Names{"beautifulsoup4"});
    CHECK(near_packages("torch", names) == Names{"pytorch", "libtorch"});
    CHECK(near_packages("opencv-python", names) == Names{"opencv"});
    CHECK(near_packages("scikit-laern", names) == Names{"scikit-learn"});
    CHECK(near_packages("pip", names).empty());
    CHECK(near_packages("skimage", names).empty());  // scikit-image is not there
    CHECK(near_packages("", names).empty());
    // A misspelled module, of a package with another name.
    CHECK(near_packages("pytroch", std::vector<std::string>{"torch", "pytz"}) == Names{"torch"});
    CHECK(near_packages("pytroch", std::vector<std::string>{"torch", "pytorch"}) ==
          Names{"pytorch", "torch"});
    CHECK(near_packages("tfx", std::vector<std::string>{"tensorflow"}).empty());
    CHECK(near_packages("pip", std::vector<std::string>{"libtensorpipe0"}).empty());
}

TEST_CASE("a very near package differs by a slip", "[spec]") {
    CHECK(is_very_near_package("nunpy", "numpy"));
    CHECK(is_very_near_package("cv2", "opencv"));
    CHECK(is_very_near_package("torch", "pytorch"));
    CHECK(is_very_near_package("pytorch", "torch"));
    CHECK_FALSE(is_very_near_package("sklearn", "nilearn"));
    CHECK(is_very_near_package("opencv-python", "opencv"));
    CHECK_FALSE(is_very_near_package("opencv-contrib", "opencv"));
    CHECK_FALSE(is_very_near_package("torch", "torchvision"));
    CHECK_FALSE(is_very_near_package("", "a"));
}
