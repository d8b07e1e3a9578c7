/* digest.c - see digest.h.
 *
 * OpenSSL's plain SHA-256 functions: its newer ones give the same after they have read
 * its configuration and looked the algorithm up, which a short command need not wait
 * for. They need 20 KB of it, which stand in the program where the system has the library
 * for that: loading the whole of it was a quarter of a start. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "base/digest.h"
#include "base/mem.h"
#include <openssl/sha.h>

struct digest_stream {
    SHA256_CTX ctx;
};

struct digest digest_of(const void *p, size_t n)
{
    struct digest d;
    SHA256_CTX ctx;
    SHA256_Init(&ctx);
    SHA256_Update(&ctx, p, n);
    SHA256_Final(d.bytes, &ctx);
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
    struct digest_stream *s = mem_new(sizeof *s);
    SHA256_Init(&s->ctx);
    return s;
}

void digest_stream_add(struct digest_stream *s, const void *p, size_t n)
{
    SHA256_Update(&s->ctx, p, n);
}

struct digest digest_stream_final(struct digest_stream *s)
{
    struct digest d;
    SHA256_Final(d.bytes, &s->ctx);
    mem_free(s);
    return d;
}
