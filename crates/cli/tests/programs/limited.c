/*
 * Calls `work` often, locks its memory, and maps much more: `limited MIB`. Prints the sum of
 * the calls, whether more than 512 MiB are in memory then, and whether the memory was mapped. A
 * process that may not lock its memory says so.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

__attribute__((noinline)) long work(long n)
{
    __asm__ volatile("" : "+r"(n));
    return n & 1;
}

static long resident_kib(void)
{
    char line[256];
    long kib = -1;
    FILE *status = fopen("/proc/self/status", "r");

    if (!status)
        return kib;
    while (fgets(line, sizeof line, status))
        if (sscanf(line, "VmRSS: %ld", &kib) == 1)
            break;
    fclose(status);
    return kib;
}

int main(int argc, char **argv)
{
    size_t mib = argc > 1 ? (size_t)atoi(argv[1]) : 1;
    const char *locked = "not permitted";
    long sum = 0;

    for (long n = 0; n < 1000; n++)
        sum += work(n);
    if (mlockall(MCL_CURRENT) == 0)
        locked = resident_kib() > 512 * 1024 ? "too much" : "little";
    munlockall();
    void *memory = mmap(NULL, mib << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    printf("sum %ld locked: %s mapped: %s\n", sum, locked, memory == MAP_FAILED ? "no" : "yes");
    return 0;
}
