#pragma once

// libcurl, loaded when the first transfer begins and not with the program: what it brings along
// (on Debian some twenty libraries, one of which tests its ciphers as it is loaded) would cost
// every command 5 ms, and most commands need no network.

#include <curl/curl.h>
#include <string>

// clang-format off
#define GPKG_LIBCURL_FUNCTIONS(each)                                                              \
    each(easy_cleanup) each(easy_getinfo) each(easy_header) each(easy_init) each(easy_setopt)     \
    each(easy_strerror) each(getdate) each(multi_add_handle) each(multi_cleanup)                  \
    each(multi_info_read) each(multi_init) each(multi_perform) each(multi_poll)                   \
    each(multi_remove_handle) each(multi_setopt) each(multi_strerror) each(multi_wakeup)          \
    each(slist_append) each(slist_free_all)
// clang-format on

namespace gpkg {

/// The functions of libcurl that gpkg uses, by their names without "curl_".
struct LibCurl {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a member's name has none
#define GPKG_DECLARE(name) decltype(&::curl_##name) name = nullptr;
    GPKG_LIBCURL_FUNCTIONS(GPKG_DECLARE)
#undef GPKG_DECLARE
};

/// The library, initialized. Null when it cannot be loaded; libcurl_problem() says why.
const LibCurl* libcurl();
const std::string& libcurl_problem();

}  // namespace gpkg
