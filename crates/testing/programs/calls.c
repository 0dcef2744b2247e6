/*
 * Calls a function very often: `calls THREADS CALLS`.
 *
 * Each thread calls `tick` CALLS times. Prints the total of the calls and the
 * nanoseconds from the first call to the last.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS_MAX = 16 };

static int calls_per_thread;
static pthread_barrier_t start;

__attribute__((noinline)) void tick(int n)
{
    __asm__ volatile("" : : "r"(n) : "memory");
}

static void call(void)
{
    for (int n = 0; n < calls_per_thread; n++)
        tick(n);
}

static void *run(void *argument)
{
    (void)argument;
    pthread_barrier_wait(&start);
    call();
    return NULL;
}

static long long now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 1;
    pthread_t others[THREADS_MAX];

    calls_per_thread = argc > 2 ? atoi(argv[2]) : 1000;
    if (threads < 1 || threads > THREADS_MAX || calls_per_thread < 1) {
        fprintf(stderr, "usage: %s THREADS CALLS\n", argv[0]);
        return 2;
    }
    pthread_barrier_init(&start, NULL, (unsigned)threads);
    for (int i = 1; i < threads; i++)
        pthread_create(&others[i], NULL, run, NULL);

    pthread_barrier_wait(&start);
    long long begin_ns = now_ns();
    call();
    for (int i = 1; i < threads; i++)
        pthread_join(others[i], NULL);
    long long elapsed_ns = now_ns() - begin_ns;

    printf("calls=%lld elapsed_ns=%lld\n",
           (long long)threads * calls_per_thread, elapsed_ns);
    return 0;
}
