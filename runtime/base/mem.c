/* mem.c - see mem.h. */
#include "base/mem.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void *must(void *p, size_t size)
{
    if (p)
        return p;
    fprintf(stderr, "skillopt: out of memory (%zu bytes wanted)\n", size);
    abort();
}

static size_t checked(size_t size)
{
    if (size > MEM_MAX) {
        fprintf(stderr, "skillopt: impossible size (%zu bytes wanted)\n", size);
        abort();
    }
    return size ? size : 1;
}

void *mem_new(size_t size)
{
    return must(calloc(1, checked(size)), size);
}

void *mem_new_array(size_t count, size_t size)
{
    if (size && count > MEM_MAX / size)
        checked(SIZE_MAX);
    return mem_new(count * size);
}

void *mem_grow(void *p, size_t size)
{
    return must(realloc(p, checked(size)), size);
}

char *mem_copy(const char *p, size_t n)
{
    char *copy = must(malloc(checked(n + 1)), n + 1);
    if (n)
        memcpy(copy, p, n);
    copy[n] = '\0';
    return copy;
}

void *mem_slab(void)
{
    void *p = must(aligned_alloc(MEM_SLAB, MEM_SLAB), MEM_SLAB);
    madvise(p, MEM_SLAB, MADV_HUGEPAGE); /* a wish: refused, all works as well */
    return p;
}

void mem_free(void *p)
{
    free(p);
}
