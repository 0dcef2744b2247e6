/*
 * Eight threads take turns: who has the turn calls `first` and `second`, which
 * no other thread does meanwhile; who has not goes through `one` and `other`.
 */
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 8, ROUNDS = 60 };

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t start;
static volatile long turns;
static long waits;

__attribute__((noinline)) void first(int n) { turns += n; }
__attribute__((noinline)) void second(int n) { turns += n; }
__attribute__((noinline)) void one(int n) { __atomic_add_fetch(&waits, n, 5); }
__attribute__((noinline)) void other(int n) { __atomic_add_fetch(&waits, n, 5); }

static void *run(void *unused)
{
    pthread_barrier_wait(&start);
    for (int n = 0; n < ROUNDS; n++) {
        while (pthread_mutex_trylock(&turn) != 0) {
            one(1);
            other(1);
        }
        first(n + 1);
        second(n + 1);
        pthread_mutex_unlock(&turn);
    }
    return unused;
}

int main(void)
{
    pthread_t threads[THREADS];

    pthread_barrier_init(&start, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("turns %d waits %ld\n", THREADS * ROUNDS, waits);
    return 0;
}
