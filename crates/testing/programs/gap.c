/*
 * Calls a function that does nothing, with a gap between the calls: `gap CALLS GAP_NS`.
 *
 * The gap is a loop, whose speed is measured first. Prints the number of the calls and the
 * nanoseconds from the first call to the last.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

__attribute__((noinline)) void nop(int n)
{
    __asm__ volatile("" : : "r"(n) : "memory");
}

static void wait(long rounds)
{
    for (long n = 0; n < rounds; n++)
        __asm__ volatile("" : : "r"(n) : "memory");
}

static long long now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* Returns the rounds of a nanosecond: the most of several measurements. */
static double rounds_per_ns(void)
{
    double most = 0;

    for (int i = 0; i < 20; i++) {
        long long begin_ns = now_ns();
        wait(1000000);
        double rounds = 1e6 / (double)(now_ns() - begin_ns);
        most = rounds > most ? rounds : most;
    }
    return most;
}

int main(int argc, char **argv)
{
    int calls = argc > 1 ? atoi(argv[1]) : 1000;
    long gap_ns = argc > 2 ? atol(argv[2]) : 1000;
    long rounds = (long)(rounds_per_ns() * (double)gap_ns);
    long long begin_ns = now_ns();

    for (int n = 0; n < calls; n++) {
        nop(n);
        wait(rounds);
    }
    printf("calls=%d elapsed_ns=%lld\n", calls, now_ns() - begin_ns);
    return 0;
}
