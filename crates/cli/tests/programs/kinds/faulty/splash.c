// A parallel sum in steps: the barrier counts the threads without the lock, so that one may come
// through alone.
#include <assert.h>
#include <pthread.h>

enum { THREADS = 2, CELLS = 8 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all = PTHREAD_COND_INITIALIZER;
static int came, generation, started;
static double cells[CELLS], sums[THREADS];

static void wait_for_all(void) {
    pthread_mutex_lock(&lock);
    int mine = generation;
    if (++came == started) {
        came = 0;
        generation++;
        pthread_cond_broadcast(&all);
    }
    while (generation == mine)
        pthread_cond_wait(&all, &lock);
    pthread_mutex_unlock(&lock);
}

static void *work(void *argument) {
    long me = (long)argument;
    pthread_mutex_lock(&lock);
    started++;
    pthread_mutex_unlock(&lock);
    for (int i = (int)me; i < CELLS; i += THREADS)
        cells[i] = i + 1;
    wait_for_all();
    for (int i = 0; i < CELLS; i++)
        sums[me] += cells[i];
    return 0;
}

int main(void) {
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], 0, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], 0);
    assert(sums[0] == CELLS * (CELLS + 1) / 2 && sums[1] == sums[0]);
    return 0;
}
