/*
 * A thread calls `work` all the time. Another one sends it SIGTRAP, 300 times, and waits each
 * time until its handler has run. Prints how many signals came, and how many were waited for
 * in vain.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

enum { SIGNALS = 300, PATIENCE_NS = 1000000000 };

static atomic_int handled, is_over;

__attribute__((noinline)) long work(long n)
{
    __asm__ volatile("" : "+r"(n));
    return n & 1;
}

static void handle(int signal)
{
    (void)signal;
    handled++;
}

static void *run(void *argument)
{
    long sum = 0;

    while (!is_over)
        sum += work(sum);
    return argument;
}

static long long now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int main(void)
{
    pthread_t worker;
    int lost = 0;

    signal(SIGTRAP, handle);
    pthread_create(&worker, NULL, run, NULL);
    for (int n = 0; n < SIGNALS && lost < 3; n++) {
        int before = handled;
        long long begin_ns = now_ns();
        pthread_kill(worker, SIGTRAP);
        while (handled == before && now_ns() - begin_ns < PATIENCE_NS)
            continue;
        lost += handled == before;
    }
    is_over = 1;
    pthread_join(worker, NULL);
    printf("handled %d lost %d\n", handled, lost);
    return 0;
}
