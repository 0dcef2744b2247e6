/*
 * Calls a function with a key very often: `keyed THREADS CALLS KEYS`.
 *
 * Each thread calls `use` CALLS times with keys below KEYS, which are its own, in a
 * random order if there are many. With LIBRARY defined, `use` is a function of a
 * library. Prints the total of the calls and the nanoseconds from the first call to the
 * last.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS_MAX = 16, MANY = 4096 };

static int calls_per_thread;
static unsigned keys;
static pthread_barrier_t start;

#ifdef LIBRARY
int use(long key, int n);
#else
__attribute__((noinline)) int use(long key, int n)
{
    __asm__ volatile("" : "+r"(n) : "r"(key) : "memory");
    return n & 7;
}
#endif

static void call(unsigned thread)
{
    unsigned random = 12345;

    for (int n = 0; n < calls_per_thread; n++) {
        unsigned key = (unsigned)n;
        if (keys >= MANY) {
            random = random * 1664525u + 1013904223u;
            key = random >> 8;
        }
        use((long)(key % keys) * 16 + thread, n);
    }
}

static void *run(void *argument)
{
    pthread_barrier_wait(&start);
    call((unsigned)(size_t)argument);
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
    keys = argc > 3 ? (unsigned)atoi(argv[3]) : 1;
    if (threads < 1 || threads > THREADS_MAX || calls_per_thread < 1 || keys < 1) {
        fprintf(stderr, "usage: %s THREADS CALLS KEYS\n", argv[0]);
        return 2;
    }
    pthread_barrier_init(&start, NULL, (unsigned)threads);
    for (int i = 1; i < threads; i++)
        pthread_create(&others[i], NULL, run, (void *)(size_t)i);

    pthread_barrier_wait(&start);
    long long begin_ns = now_ns();
    call(0);
    for (int i = 1; i < threads; i++)
        pthread_join(others[i], NULL);
    long long end_ns = now_ns();

    printf("calls=%lld elapsed_ns=%lld\n", (long long)threads * calls_per_thread, end_ns - begin_ns);
    return 0;
}
