// Readers as a group: the first one takes the lock, the last one gives it back, whoever that is.
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER, room = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static int readers, value, lines;

static void *read_it(void *unused) {
    pthread_mutex_lock(&counting);
    if (++readers == 1)
        pthread_mutex_lock(&room);
    pthread_mutex_unlock(&counting);
    int before = value;
    assert(value == before);
    pthread_mutex_lock(&counting);
    if (--readers == 0)
        pthread_mutex_unlock(&room);
    pthread_mutex_unlock(&counting);
    pthread_mutex_lock(&log_lock);
    lines++;
    pthread_mutex_unlock(&log_lock);
    return unused;
}

static void *write_it(void *unused) {
    pthread_mutex_lock(&log_lock);
    pthread_mutex_lock(&room);
    value++;
    pthread_mutex_unlock(&room);
    pthread_mutex_unlock(&log_lock);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], 0, read_it, 0);
    pthread_create(&threads[1], 0, read_it, 0);
    pthread_create(&threads[2], 0, write_it, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return 0;
}
