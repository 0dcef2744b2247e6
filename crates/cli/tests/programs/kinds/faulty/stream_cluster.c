// Two parts of a computation that need a barrier between them: one of the two is missing.
#include <assert.h>
#include <pthread.h>

enum { THREADS = 2 };
static pthread_barrier_t barrier;
static int *costs, storage[THREADS], total;

static void *work(void *argument) {
    long me = (long)argument;
    if (me == 0)
        costs = storage;
    pthread_barrier_wait(&barrier);
    costs[me] = (int)me + 1;
    if (me == 0) {
        // The other one may not have written its part yet.
        total = costs[0] + costs[1];
    }
    pthread_barrier_wait(&barrier);
    assert(total == 3);
    return 0;
}

int main(void) {
    pthread_t threads[THREADS];
    pthread_barrier_init(&barrier, 0, THREADS);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], 0, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], 0);
    return 0;
}
