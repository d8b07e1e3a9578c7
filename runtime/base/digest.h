/* digest.h - SHA-256, the only digest of the product. */
#pragma once
#include <stddef.h>

enum { DIGEST_BYTES = 32, DIGEST_HEX = 64 };

struct digest {
    unsigned char bytes[DIGEST_BYTES];
};

struct digest digest_of(const void *p, size_t n);

/* Lower-case hex with a zero byte behind it. */
void digest_hex(const struct digest *d, char hex[DIGEST_HEX + 1]);

/* For texts that come in pieces. Owned by the caller; _final also frees. */
struct digest_stream;
struct digest_stream *digest_stream_new(void);
void digest_stream_add(struct digest_stream *s, const void *p, size_t n);
struct digest digest_stream_final(struct digest_stream *s);
