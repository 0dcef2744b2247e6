// A monitor whose waits can be interrupted: the flag is set before the waiter has said where it
// waits, and then nobody signals.
#include <pthread.h>

struct thread {
    pthread_cond_t *waits_at;
    int is_interrupted;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, monitor = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t entered = PTHREAD_COND_INITIALIZER;
static struct thread waiter;

static void *wait_for_entry(void *unused) {
    pthread_mutex_lock(&lock);
    int is_interrupted = waiter.is_interrupted;
    pthread_mutex_unlock(&lock);
    if (is_interrupted)
        return unused;
    pthread_mutex_lock(&monitor);
    pthread_mutex_lock(&lock);
    waiter.waits_at = &entered;
    pthread_mutex_unlock(&lock);
    pthread_cond_wait(&entered, &monitor);
    pthread_mutex_unlock(&monitor);
    return unused;
}

static void *interrupt(void *unused) {
    pthread_mutex_lock(&lock);
    waiter.is_interrupted = 1;
    pthread_cond_t *at = waiter.waits_at;
    pthread_mutex_unlock(&lock);
    if (at) {
        pthread_mutex_lock(&monitor);
        pthread_cond_broadcast(at);
        pthread_mutex_unlock(&monitor);
    }
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, wait_for_entry, 0);
    pthread_create(&threads[1], 0, interrupt, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
