#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
static pthread_mutex_t recursive, checked, robust, inheriting, adaptive;
static int counts[5];

static void make(pthread_mutex_t *mutex, int kind, int is_robust, int protocol) {
    pthread_mutexattr_t how;
    pthread_mutexattr_init(&how);
    pthread_mutexattr_settype(&how, kind);
    pthread_mutexattr_setrobust(&how, is_robust);
    pthread_mutexattr_setprotocol(&how, protocol);
    pthread_mutex_init(mutex, &how);
}

static void *work(void *argument) {
    pthread_mutex_lock(&recursive);
    pthread_mutex_lock(&recursive);
    counts[0]++;
    pthread_mutex_unlock(&recursive);
    pthread_mutex_unlock(&recursive);
    assert(pthread_mutex_lock(&checked) == 0);
    assert(pthread_mutex_lock(&checked) == EDEADLK);
    counts[1]++;
    pthread_mutex_unlock(&checked);
    assert(pthread_mutex_unlock(&checked) == EPERM);
    pthread_mutex_lock(&inheriting);
    counts[3]++;
    pthread_mutex_unlock(&inheriting);
    pthread_mutex_lock(&adaptive);
    counts[4]++;
    pthread_mutex_unlock(&adaptive);
    int error = pthread_mutex_lock(&robust);
    if (error == EOWNERDEAD)
        pthread_mutex_consistent(&robust);
    else
        assert(error == 0);
    counts[2]++;
    if (argument)
        pthread_mutex_unlock(&robust);
    return 0;
}

int main(void) {
    pthread_t threads[3];
    make(&recursive, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE);
    make(&checked, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE);
    make(&robust, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_NONE);
    make(&inheriting, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_INHERIT);
    make(&adaptive, PTHREAD_MUTEX_ADAPTIVE_NP, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE);
    for (long i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, work, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    for (int i = 0; i < 5; i++)
        assert(counts[i] == 3);
    return 0;
}
