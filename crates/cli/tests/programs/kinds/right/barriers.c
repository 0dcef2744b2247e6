#include <assert.h>
#include <pthread.h>
enum { THREADS = 3, STEPS = 2 };
static pthread_barrier_t barrier;
static int cells[THREADS];

static void *work(void *argument) {
    long me = (long)argument;
    for (int step = 1; step <= STEPS; step++) {
        cells[me] = step;
        pthread_barrier_wait(&barrier);
        for (int i = 0; i < THREADS; i++)
            assert(cells[i] == step);
        pthread_barrier_wait(&barrier);
    }
    return 0;
}

int main(void) {
    pthread_t threads[THREADS];
    pthread_barrier_init(&barrier, 0, THREADS);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], 0, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], 0);
    pthread_barrier_destroy(&barrier);
    return 0;
}
