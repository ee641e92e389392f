#include "libcore/spec/near_packages.hpp"

#include "tests/support/catch.hpp"

#include <map>
#include <string>
#include <vector>

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
    // What a person calls otherwise goes before a slip, and a slip hides longer names.
    CHECK(near_packages("node", std::vector<std::string>{"nodejs", "nose"}) ==
          Names{"nodejs", "nose"});
    CHECK(near_packages("Crypto", std::vector<std::string>{"crypt", "pycryptodome"}) ==
          Names{"pycryptodome"});
    CHECK(near_packages("reqests", std::vector<std::string>{"reqests-more", "requests"}) ==
          Names{"requests"});
}

TEST_CASE("packages of modules, programs and names of PyPI", "[spec]") {
    for (const auto& [name, package] : std::map<std::string, std::string>{
             {"sklearn", "scikit-learn"},
             {"cv2", "opencv"},
             {"PIL", "pillow"},
             {"bs4", "beautifulsoup4"},
             {"yaml", "pyyaml"},
             {"Crypto", "pycryptodome"},
             {"serial", "pyserial"},
             {"git", "gitpython"},
             {"dateutil", "python-dateutil"},
             {"node", "nodejs"},
         }) {
        INFO(name);
        CHECK(package_of_module(name) == package);
    }
    CHECK_FALSE(package_of_module("numpy"));
    CHECK_FALSE(package_of_module("#"));
}
