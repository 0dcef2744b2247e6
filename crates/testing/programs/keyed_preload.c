/*
 * The check of keyed_slices.prop as a library that is preloaded: it comes before the
 * function `use`, and counts the calls with each key in a hash table. Prints the number of
 * calls at the end.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { SLOTS = 1 << 19, STRIPES = 64 };

struct slot {
    uint64_t key;
    int state;
    long seen;
};

struct stripe {
    _Alignas(64) atomic_int lock;
    struct slot slots[SLOTS / STRIPES];
};

static struct stripe stripes[STRIPES];
static int (*next)(long key, int n);

__attribute__((constructor)) static void begin(void)
{
    next = (int (*)(long, int))dlsym(RTLD_NEXT, "use");
}

__attribute__((destructor)) static void end(void)
{
    long seen = 0;

    for (int i = 0; i < STRIPES; i++)
        for (int at = 0; at < SLOTS / STRIPES; at++)
            seen += stripes[i].slots[at].seen;
    printf("seen=%ld\n", seen);
}

int use(long key, int n)
{
    /* Keys are not 0 in the table. */
    uint64_t word = (uint64_t)key + 1;
    uint64_t hash = word * 0x9e3779b97f4a7c15u;
    struct stripe *stripe = &stripes[hash >> 58];
    unsigned at = (unsigned)(hash >> 32) % (SLOTS / STRIPES);

    while (atomic_exchange_explicit(&stripe->lock, 1, memory_order_acquire))
        __builtin_ia32_pause();
    while (stripe->slots[at].key != 0 && stripe->slots[at].key != word)
        at = (at + 1) % (SLOTS / STRIPES);
    stripe->slots[at].key = word;
    if (n >= 0) {
        stripe->slots[at].seen += 1;
    } else {
        fprintf(stderr, "a number is negative\n");
        abort();
    }
    atomic_store_explicit(&stripe->lock, 0, memory_order_release);
    return next(key, n);
}
