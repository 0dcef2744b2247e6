/*
 * Makes many system calls, of which one in twenty is `getppid`: `requests ROUNDS`.
 *
 * Prints the number of calls of `getppid`, and the nanoseconds from the first call to
 * the last.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { OTHERS = 19 };

static long long now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? atol(argv[1]) : 1000;
    long long start = now_ns();
    for (long round = 0; round < rounds; round++) {
        for (int other = 0; other < OTHERS; other++)
            syscall(SYS_getuid);
        syscall(SYS_getppid);
    }
    printf("calls=%ld elapsed_ns=%lld\n", rounds, now_ns() - start);
    return 0;
}
