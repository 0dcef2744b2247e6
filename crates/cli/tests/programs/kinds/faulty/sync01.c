// The consumer waits only if nothing is there, but looks without the lock.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int count;

static void *put(void *unused) {
    pthread_mutex_lock(&lock);
    count++;
    pthread_mutex_unlock(&lock);
    pthread_cond_signal(&filled);
    return unused;
}

static void *take(void *unused) {
    int is_empty = count == 0;
    pthread_mutex_lock(&lock);
    if (is_empty)
        pthread_cond_wait(&filled, &lock);
    count--;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, put, 0);
    pthread_create(&threads[1], 0, take, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
