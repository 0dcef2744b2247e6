#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static sem_t posted;
static int is_ready;

static struct timespec in(clockid_t clock, int seconds) {
    struct timespec moment;
    clock_gettime(clock, &moment);
    moment.tv_sec += seconds;
    return moment;
}

static void *wait_for_it(void *unused) {
    struct timespec until = in(CLOCK_REALTIME, 2);
    pthread_mutex_lock(&lock);
    int error = 0;
    while (!is_ready && error == 0)
        error = pthread_cond_timedwait(&changed, &lock, &until);
    assert(error == 0 || error == ETIMEDOUT);
    pthread_mutex_unlock(&lock);
    until = in(CLOCK_REALTIME, 1);
    if (sem_timedwait(&posted, &until) != 0)
        assert(errno == ETIMEDOUT);
    until = in(CLOCK_MONOTONIC, 1);
    error = pthread_mutex_clocklock(&other, CLOCK_MONOTONIC, &until);
    if (error == 0)
        pthread_mutex_unlock(&other);
    else
        assert(error == ETIMEDOUT);
    return unused;
}

static void *make_it(void *unused) {
    usleep(500);
    pthread_mutex_lock(&other);
    pthread_mutex_lock(&lock);
    is_ready = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    sem_post(&posted);
    struct timespec pause = {0, 1000};
    nanosleep(&pause, 0);
    pthread_mutex_unlock(&other);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    sem_init(&posted, 0, 0);
    pthread_create(&threads[0], 0, wait_for_it, 0);
    pthread_create(&threads[1], 0, make_it, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
