/*
 * Adds and removes, alternately, the first 100 natural numbers: `stack ROUNDS`.
 *
 * Prints the number of rounds and the nanoseconds from the first to the last.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int numbers[128];
static int count;

__attribute__((noinline)) void add(int number)
{
    numbers[count++] = number;
    __asm__ volatile("" : : : "memory");
}

__attribute__((noinline)) int take(void)
{
    __asm__ volatile("" : : : "memory");
    return numbers[--count];
}

static long long now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 100;
    long long begin_ns = now_ns();

    for (int round = 0; round < rounds; round++)
        for (int number = 0; number < 100; number++) {
            add(number);
            take();
        }
    printf("rounds=%d elapsed_ns=%lld\n", rounds, now_ns() - begin_ns);
    return 0;
}
