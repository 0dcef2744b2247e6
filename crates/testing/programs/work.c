/*
 * Work for debuggers, besides calls (calls.c):
 *
 *     work stores COUNT    COUNT stores to `counter`
 *     work table COUNT     COUNT stores to `table`, which is larger than all
 *                          debug registers together
 *     work lines COUNT     `lines` runs through COUNT lines, and more
 *     work threads COUNT   says "ready" when COUNT threads sleep, and ends with
 *                          its input
 *
 * Prints the nanoseconds that it took.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

volatile int counter;
volatile int table[16];

static void stores(int count)
{
    for (int n = 1; n <= count; n++)
        counter = n;
}

static void table_stores(int count)
{
    for (int n = 1; n <= count; n++)
        table[n % 16] = n;
}

__attribute__((noinline)) void lines(int count)
{
    volatile int sum = 0;

    for (int n = 0; n < count; n++) {
        sum += n;
        sum ^= count;
        sum -= n / 2;
    }
}

static pthread_barrier_t asleep;

static void *rest(void *unused)
{
    pthread_barrier_wait(&asleep);
    for (;;)
        pause();
    return unused;
}

static void threads(int count)
{
    char byte;
    pthread_t thread;

    pthread_barrier_init(&asleep, NULL, (unsigned)count);
    for (int n = 1; n < count; n++)
        pthread_create(&thread, NULL, rest, NULL);
    pthread_barrier_wait(&asleep);
    puts("ready");
    fflush(stdout);
    while (read(0, &byte, 1) > 0)
        ;
}

static long long now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int main(int argc, char **argv)
{
    int count = argc > 2 ? atoi(argv[2]) : 0;
    long long begin_ns = now_ns();

    if (argc < 3 || count < 1)
        return 2;
    if (strcmp(argv[1], "stores") == 0)
        stores(count);
    else if (strcmp(argv[1], "table") == 0)
        table_stores(count);
    else if (strcmp(argv[1], "lines") == 0)
        lines(count);
    else
        threads(count);
    printf("elapsed_ns=%lld\n", now_ns() - begin_ns);
    return 0;
}
