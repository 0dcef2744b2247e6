// Threads that compute for a while between two locks, and a wait for a flag by sleeps.
#include <assert.h>
#include <pthread.h>
#include <time.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static double sum;
static volatile int is_over;

static void *compute(void *unused) {
    double mine = 0;
    for (int i = 1; i < 2000000; i++)
        mine += 1.0 / i;
    pthread_mutex_lock(&lock);
    sum += mine;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *wait_for_it(void *unused) {
    struct timespec pause = {0, 1000000};
    while (!is_over)
        nanosleep(&pause, 0);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, i ? compute : wait_for_it, 0);
    for (int i = 1; i < 3; i++)
        pthread_join(threads[i], 0);
    is_over = 1;
    pthread_join(threads[0], 0);
    assert(sum > 1);
    return 0;
}
