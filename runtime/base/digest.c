/* digest.c - see digest.h. */
#include "base/digest.h"
#include <assert.h>
#include <openssl/evp.h>
#include <pthread.h>

static EVP_MD *fetched;

static void fetch(void)
{
    fetched = EVP_MD_fetch(NULL, "SHA256", NULL);
    assert(fetched);
}

/* The algorithm, looked up once: a look-up costs more than a short digest. */
static const EVP_MD *algorithm(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, fetch);
    return fetched;
}

struct digest digest_of(const void *p, size_t n)
{
    struct digest d;
    unsigned size = DIGEST_BYTES;
    int ok = EVP_Digest(p, n, d.bytes, &size, algorithm(), NULL);
    assert(ok);
    (void)ok;
    return d;
}

void digest_hex(const struct digest *d, char hex[DIGEST_HEX + 1])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < DIGEST_BYTES; i++) {
        hex[2 * i] = digits[d->bytes[i] >> 4];
        hex[2 * i + 1] = digits[d->bytes[i] & 15];
    }
    hex[DIGEST_HEX] = '\0';
}

struct digest_stream *digest_stream_new(void)
{
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    int ok = ctx && EVP_DigestInit_ex(ctx, algorithm(), NULL);
    assert(ok);
    (void)ok;
    return (struct digest_stream *)ctx;
}

void digest_stream_add(struct digest_stream *s, const void *p, size_t n)
{
    EVP_DigestUpdate((EVP_MD_CTX *)s, p, n);
}

struct digest digest_stream_final(struct digest_stream *s)
{
    struct digest d;
    unsigned n = DIGEST_BYTES;
    EVP_DigestFinal_ex((EVP_MD_CTX *)s, d.bytes, &n);
    EVP_MD_CTX_free((EVP_MD_CTX *)s);
    return d;
}
