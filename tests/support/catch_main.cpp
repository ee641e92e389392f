#define CATCH_CONFIG_MAIN  // NOLINT(readability-identifier-naming): the name Catch2 reads
#include "tests/support/catch.hpp"
