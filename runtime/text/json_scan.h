/* json_scan.h - the part of a JSON string that stands for itself; for the reader and
 * the writer. Eight bytes are looked at at a time, as one number. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A mark in some byte when one of the eight is 0 (and none when none is). */
static inline uint64_t scan_zero(uint64_t word)
{
    return (word - 0x0101010101010101u) & ~word & 0x8080808080808080u;
}

/* Is one of eight bytes the quote, a backslash or below 0x20? */
static inline uint64_t scan_special(uint64_t word, char quote)
{
    const uint64_t ones = 0x0101010101010101u;
    uint64_t low = (word - ones * 0x20) & ~word & (ones * 0x80);
    return low | scan_zero(word ^ (ones * (unsigned char)quote)) |
           scan_zero(word ^ (ones * '\\'));
}

/* Bytes at the start that are neither `quote`, a backslash nor below 0x20. */
static inline size_t scan_plain(const char *p, size_t n, char quote)
{
    size_t i = 0;
    for (uint64_t word; i + sizeof word <= n; i += sizeof word) {
        memcpy(&word, p + i, sizeof word);
        if (scan_special(word, quote))
            break;
    }
    while (i < n && p[i] != quote && p[i] != '\\' && (unsigned char)p[i] >= 0x20)
        i++;
    return i;
}
