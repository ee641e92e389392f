#pragma once

// What the parsers of this folder say to each other when a text is wrong: an offset and a sentence.
// The outermost parser turns it into an Error that shows the whole text with a caret under the
// place, so an inner parser never needs to know what its text is a part of.

#include "libcore/base/error.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace gpkg::grammar {

struct Fault {
    std::size_t at = 0;  ///< offset into the text that the parser was given
    std::string what;    ///< lower case, no full stop
    std::string hint;
};

template <typename T>
using Parsed = tl::expected<T, Fault>;

tl::unexpected<Fault> fault(std::size_t at, std::string what, std::string hint = {});

/// The same fault seen from a text in which the inner one starts at `offset`.
tl::unexpected<Fault> moved(Fault inner, std::size_t offset);

/// `TEXT: WHAT`, then the text again with a caret under the place. Long texts are cut to the
/// neighbourhood of the caret, and what does not print is shown as '?'. `exception_name` is
/// conda's exception; empty: InvalidSpec.
tl::unexpected<Error> refuse(std::string_view text,
                             const Fault& found,
                             std::string exception_name = {});

/// A character as a message shows it: 'x', or its code where it does not print.
std::string shown(char c);

}  // namespace gpkg::grammar
