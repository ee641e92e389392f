// Starts a program of gpkg (GPKG_PROGRAM, in the folder GPKG_ROOT beside this one's) with the
// loader and the libraries that lie there as well, so that nothing of it is taken from the machine.
// Linked statically: it needs no loader itself.

#include <cstdio>
#include <cstring>
#include <string>
#include <unistd.h>
#include <vector>

int main(int, char** words) {
    std::string self(4096, '\0');
    const auto size = ::readlink("/proc/self/exe", self.data(), self.size());
    if (size <= 0 || static_cast<std::size_t>(size) == self.size()) {
        std::fputs("gpkg: cannot find its own program: /proc/self/exe does not exist\n", stderr);
        return 1;
    }
    self.resize(static_cast<std::size_t>(size));
    const auto root = self.substr(0, self.rfind('/')) + "/" GPKG_ROOT;
    auto libraries = root + "/lib";
    auto loader = libraries + "/" GPKG_LOADER;
    auto program = root + "/" GPKG_PROGRAM;

    // --library-path goes before LD_LIBRARY_PATH, and is no variable that others would inherit.
    char argv0[] = "--argv0";
    char library_path[] = "--library-path";
    std::vector<char*> all{
        loader.data(), argv0, self.data(), library_path, libraries.data(), program.data()};
    for (auto** word = words + 1; *word != nullptr; ++word) all.push_back(*word);
    all.push_back(nullptr);
    ::execv(loader.c_str(), all.data());
    std::perror(("gpkg: cannot start " + loader).c_str());
    return 1;
}
