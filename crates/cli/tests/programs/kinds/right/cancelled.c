#include <assert.h>
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static int cleaned;

static void clean(void *unused) {
    (void)unused;
    cleaned++;
    pthread_mutex_unlock(&lock);
}

static void *wait_for_ever(void *unused) {
    pthread_mutex_lock(&lock);
    pthread_cleanup_push(clean, 0);
    for (;;)
        pthread_cond_wait(&never, &lock);
    pthread_cleanup_pop(1);
    return unused;
}

static void *pause_for_ever(void *unused) {
    for (;;)
        pause();
    return unused;
}

int main(void) {
    pthread_t threads[2];
    void *result;
    pthread_create(&threads[0], 0, wait_for_ever, 0);
    pthread_create(&threads[1], 0, pause_for_ever, 0);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 2; i++)
        pthread_cancel(threads[i]);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], &result);
        assert(result == PTHREAD_CANCELED);
    }
    return cleaned > 1;
}
