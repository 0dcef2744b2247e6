/*
 * Limits its own memory in the middle of a run: `own_limit as` its address space to 1 GiB,
 * `own_limit data` its data to 64 MiB, `own_limit tight` its address space to what it has
 * and 1 MiB. Then allocates 20 MB, if not `tight`, and calls `put` for many objects.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static long calls;

__attribute__((noinline)) void put(unsigned long object)
{
    __asm__ volatile("" : "+r"(object));
    calls++;
}

static void limit(int resource, unsigned long bytes)
{
    struct rlimit limit = {bytes, bytes};

    if (setrlimit(resource, &limit) != 0)
        perror("setrlimit");
}

static unsigned long address_space(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    if (file && fscanf(file, "%lu", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return pages * 4096;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int is_tight = strcmp(what, "tight") == 0, failures = 0;

    for (unsigned long i = 0; i < 1000; i++)
        put(i);
    if (strcmp(what, "as") == 0)
        limit(RLIMIT_AS, 1ul << 30);
    if (strcmp(what, "data") == 0)
        limit(RLIMIT_DATA, 64ul << 20);
    if (is_tight)
        limit(RLIMIT_AS, address_space() + (1ul << 20));
    for (int i = 0; i < 20 && !is_tight; i++) {
        char *block = malloc(1000000);

        if (block)
            memset(block, 1, 1000000);
        else
            failures++;
    }
    for (unsigned long i = 0; i < 40000; i++)
        put(i * 8);
    printf("failures: %d\ncalls: %ld\n", failures, calls);
    return failures != 0;
}
