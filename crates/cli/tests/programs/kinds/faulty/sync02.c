// Two conditions; the second one is signalled before the lock is taken that its waiter holds.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t empty = PTHREAD_COND_INITIALIZER, full = PTHREAD_COND_INITIALIZER;
static volatile int count = 1;

static void *put(void *unused) {
    pthread_mutex_lock(&lock);
    while (count > 0)
        pthread_cond_wait(&empty, &lock);
    count++;
    pthread_mutex_unlock(&lock);
    pthread_cond_signal(&full);
    return unused;
}

static void *take(void *unused) {
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        while (count == 0)
            pthread_cond_wait(&full, &lock);
        pthread_mutex_unlock(&lock);
        count--;
        if (i == 0)
            pthread_cond_signal(&empty);
    }
    return unused;
}

static void *drain(void *unused) {
    pthread_mutex_lock(&lock);
    if (count > 0)
        count--;
    pthread_cond_signal(&empty);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], 0, put, 0);
    pthread_create(&threads[1], 0, take, 0);
    pthread_join(threads[1], 0);
    pthread_create(&threads[2], 0, drain, 0);
    pthread_join(threads[2], 0);
    pthread_join(threads[0], 0);
    return 0;
}
