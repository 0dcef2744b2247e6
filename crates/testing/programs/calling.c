/*
 * Makes system calls in two loops, `calling COUNT` in each, and prints the processor time of one in
 * picoseconds: of the process, so that what juror does meanwhile does not count.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static long long now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int main(int argc, char **argv)
{
    long count = argc > 1 ? atol(argv[1]) : 1000;
    int file = open(argv[0], O_RDONLY);
    char bytes[64];
    long long start = now_ns();
    for (long call = 0; call < count; call++)
        getppid();
    printf("getppid_ps=%lld\n", (now_ns() - start) * 1000 / count);
    start = now_ns();
    for (long call = 0; call < count; call++)
        if (pread(file, bytes, sizeof bytes, call % 1000) != sizeof bytes)
            return 2;
    printf("pread_ps=%lld\n", (now_ns() - start) * 1000 / count);
    return 0;
}
