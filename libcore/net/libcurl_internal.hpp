#pragma once

// libcurl, loaded when the first transfer begins and not with the program: what it brings along
// (on Debian some twenty libraries, one of which tests its ciphers as it is loaded) would cost
// every command 5 ms, and most commands need no network.

#include <curl/curl.h>
#include <string>

namespace gpkg {

/// The functions of libcurl that gpkg uses, by their names without "curl_".
struct LibCurl {
    decltype(&::curl_easy_cleanup) easy_cleanup;
    decltype(&::curl_easy_getinfo) easy_getinfo;
    decltype(&::curl_easy_header) easy_header;
    decltype(&::curl_easy_init) easy_init;
    decltype(&::curl_easy_setopt) easy_setopt;
    decltype(&::curl_easy_strerror) easy_strerror;
    decltype(&::curl_multi_add_handle) multi_add_handle;
    decltype(&::curl_multi_cleanup) multi_cleanup;
    decltype(&::curl_multi_info_read) multi_info_read;
    decltype(&::curl_multi_init) multi_init;
    decltype(&::curl_multi_perform) multi_perform;
    decltype(&::curl_multi_poll) multi_poll;
    decltype(&::curl_multi_remove_handle) multi_remove_handle;
    decltype(&::curl_multi_strerror) multi_strerror;
    decltype(&::curl_multi_wakeup) multi_wakeup;
    decltype(&::curl_slist_append) slist_append;
    decltype(&::curl_slist_free_all) slist_free_all;
};

/// The library, initialized. Null when it cannot be loaded; libcurl_problem() says why.
const LibCurl* libcurl();
const std::string& libcurl_problem();

}  // namespace gpkg
