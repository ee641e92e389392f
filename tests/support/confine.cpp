// What confines a program, as a program of its own: what `gpkg __confine ...` is.

#include "virtual-packages/confine.hpp"

int main(int count, char** arguments) {
    gpkg::virtual_packages::confine_main(
        std::span<char* const>(arguments + 1, static_cast<std::size_t>(count) - 1));
}
