/* curl_late.h - libcurl, loaded when the first request is made.
 *
 * It brings thirty libraries with it, whose loading is half of what starting the
 * program costs; most commands send nothing. Its functions are called as
 * curl.easy_init() for curl_easy_init(). Belongs to the loop's thread. */
#pragma once
#include "base/err.h"
#include <curl/curl.h>

#define CURL_FUNCTIONS(X)                                                                \
    X(easy_cleanup)                                                                      \
    X(easy_getinfo)                                                                      \
    X(easy_init)                                                                         \
    X(easy_reset)                                                                        \
    X(easy_setopt)                                                                       \
    X(easy_strerror)                                                                     \
    X(global_cleanup)                                                                    \
    X(global_init)                                                                       \
    X(multi_add_handle)                                                                  \
    X(multi_assign)                                                                      \
    X(multi_cleanup)                                                                     \
    X(multi_info_read)                                                                   \
    X(multi_init)                                                                        \
    X(multi_remove_handle)                                                               \
    X(multi_setopt)                                                                      \
    X(multi_socket_action)                                                               \
    X(share_cleanup)                                                                     \
    X(share_init)                                                                        \
    X(share_setopt)                                                                      \
    X(slist_append)                                                                      \
    X(slist_free_all)                                                                    \
    X(version_info)

struct curl_late {
#define CURL_MEMBER(name) __typeof__ (&curl_##name)(name);
    CURL_FUNCTIONS(CURL_MEMBER)
#undef CURL_MEMBER
};

extern struct curl_late curl;

/* Load it; at once when it is loaded. ERR_IO when it is not installed or another one.
 * It stays loaded until the process ends. */
bool curl_load(struct err *e);
