/* http_fault.c - see http_fault.h. */
#include "io/http_fault.h"
#include "io/curl_late.h"
#include <errno.h>
#include <string.h>

static const char *words(const struct http_fault *f)
{
    if (f->detail[0])
        return f->detail;
    return curl_load(NULL) ? curl.easy_strerror((CURLcode)f->curl_code)
                           : "an error of libcurl";
}

static bool fault_connect(const struct http_fault *f, struct err *e)
{
    if (f->os_error == EMFILE || f->os_error == ENFILE) {
        err_set(e, ERR_LIMIT, "cannot connect to %s: too many open files", f->origin);
        return err_hint(e, "raise the limit (ulimit -n) or lower the number of calls "
                           "in flight");
    }
    err_set(e, ERR_NETWORK, "cannot connect to %s: %s", f->origin,
            f->os_error ? strerror(f->os_error) : words(f));
    return err_hint(e, "is a server listening at %s?", f->origin);
}

static bool fault_name(const struct http_fault *f, struct err *e)
{
    if (f->curl_code == CURLE_COULDNT_RESOLVE_PROXY) {
        err_set(e, ERR_NETWORK, "cannot find the proxy for %s", f->origin);
        return err_hint(e, "check http_proxy, https_proxy and no_proxy");
    }
    err_set(e, ERR_NETWORK, "cannot find the host of %s", f->origin);
    return err_hint(e, "check the address and the network");
}

/* Trying again does not make a certificate good. */
static bool fault_certificate(const struct http_fault *f, struct err *e)
{
    err_set(e, ERR_NETWORK, "the TLS certificate of %s is not trusted: %s", f->origin,
            words(f));
    if (e)
        e->retry = false;
    return err_hint(e, "set SSL_CERT_FILE to a file with the certificate of its "
                       "authority");
}

static bool fault_tls(const struct http_fault *f, struct err *e)
{
    err_set(e, ERR_NETWORK, "no TLS connection to %s: %s", f->origin, words(f));
    return err_hint(e, "does the server speak https at this port?");
}

static bool fault_cut(const struct http_fault *f, struct err *e)
{
    err_set(e, ERR_NETWORK,
            "the connection to %s ended before the answer was complete (%zu bytes of "
            "its body came): %s",
            f->origin, f->received, words(f));
    return false;
}

static bool fault_address(const struct http_fault *f, struct err *e)
{
    err_set(e, ERR_CONFIG, "%s is not a usable address: %s", f->origin, words(f));
    return false;
}

static bool fault_size(const struct http_fault *f, struct err *e)
{
    return err_set(e, ERR_LIMIT, "the answer of %s is larger than %zu bytes", f->origin,
                   f->max_body);
}

static bool fault_curl(const struct http_fault *f, struct err *e)
{
    switch (f->curl_code) {
    case CURLE_OK:
        return true;
    case CURLE_COULDNT_CONNECT:
        return fault_connect(f, e);
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
        return fault_name(f, e);
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS:
        return fault_certificate(f, e);
    case CURLE_SSL_CONNECT_ERROR:
        return fault_tls(f, e);
    case CURLE_URL_MALFORMAT:
        return fault_address(f, e);
    case CURLE_FILESIZE_EXCEEDED:
        return fault_size(f, e);
    case CURLE_OPERATION_TIMEDOUT:
        return err_set(e, ERR_TIMEOUT, "no answer from %s: %s", f->origin, words(f));
    default:
        return fault_cut(f, e);
    }
}

bool http_fault_judge(const struct http_fault *f, struct err *e)
{
    switch (f->end) {
    case HTTP_END_ENOUGH:
        return true;
    case HTTP_END_TIMEOUT:
        return err_set(e, ERR_TIMEOUT, "%s did not answer completely within %g s",
                       f->origin, f->limit_s);
    case HTTP_END_CONNECT_TIMEOUT:
        err_set(e, ERR_TIMEOUT, "no connection to %s within %g s", f->origin, f->limit_s);
        return err_hint(e, "is a server listening at %s?", f->origin);
    case HTTP_END_IDLE_TIMEOUT:
        return err_set(e, ERR_TIMEOUT, "nothing came from %s for %g s", f->origin,
                       f->limit_s);
    case HTTP_END_BODY_LIMIT:
        return fault_size(f, e);
    case HTTP_END_HEADER_LIMIT:
        return err_set(e, ERR_LIMIT, "the headers of %s are too large", f->origin);
    default:
        return fault_curl(f, e);
    }
}
