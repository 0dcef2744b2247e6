#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <time.h>
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t journal = PTHREAD_MUTEX_INITIALIZER;
static int low, high, lines;

static void *look(void *unused) {
    for (int i = 0; i < 2; i++) {
        pthread_rwlock_rdlock(&lock);
        assert(low == high);
        pthread_mutex_lock(&journal);
        lines++;
        pthread_mutex_unlock(&journal);
        pthread_rwlock_unlock(&lock);
    }
    return unused;
}

static void *change(void *unused) {
    pthread_rwlock_wrlock(&lock);
    low++;
    high++;
    pthread_rwlock_unlock(&lock);
    if (pthread_rwlock_trywrlock(&lock) == 0)
        pthread_rwlock_unlock(&lock);
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 5;
    if (pthread_rwlock_timedrdlock(&lock, &until) == 0)
        pthread_rwlock_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, i == 2 ? change : look, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return lines == 4 ? 0 : 1;
}
