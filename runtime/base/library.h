/* library.h - the version of a library that the program runs with, which need not be
 * the one it was built with. Rooms that use libraries name theirs. */
#pragma once

struct library {
    const char *name; /* as its makers write it; static */
    char version[24];
};

/* A longer version is cut. */
struct library library_of(const char *name, const char *version);

/* OpenSSL, which makes the digests; the version it was built with, for what is used of it
 * stands in the program. */
struct library library_openssl(void);
