// The sum is looked at when a number of terms was made, not when it was added.
#include <assert.h>
#include <pthread.h>

enum { TERMS = 3 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t empty = PTHREAD_COND_INITIALIZER, full = PTHREAD_COND_INITIALIZER;
static int count, sum, is_done;

static void *produce(void *unused) {
    for (int i = 0; i < TERMS; i++) {
        pthread_mutex_lock(&lock);
        while (count > 0)
            pthread_cond_wait(&empty, &lock);
        count++;
        pthread_mutex_unlock(&lock);
        pthread_cond_signal(&full);
    }
    is_done = 1;
    return unused;
}

static void *consume(void *unused) {
    for (int i = 1; i <= TERMS; i++) {
        pthread_mutex_lock(&lock);
        while (count == 0)
            pthread_cond_wait(&full, &lock);
        count--;
        pthread_mutex_unlock(&lock);
        pthread_cond_signal(&empty);
        sum += i;
    }
    return unused;
}

static void *check(void *unused) {
    if (is_done)
        assert(sum >= TERMS * (TERMS + 1) / 2 - TERMS + 1);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], 0, produce, 0);
    pthread_create(&threads[1], 0, consume, 0);
    pthread_create(&threads[2], 0, check, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return 0;
}
