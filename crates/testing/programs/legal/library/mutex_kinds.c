/* Mutexes of all kinds, in one thread and with condition variables. */
#define _GNU_SOURCE
#include "use.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>

static void expect(int result, int expected)
{
    if (result != expected) {
        printf("%d instead of %d\n", result, expected);
        fflush(stdout);
        abort();
    }
}

static void make(pthread_mutex_t *mutex, int kind)
{
    pthread_mutexattr_t attributes;

    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, kind);
    pthread_mutex_init(mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

static void recursive(void)
{
    pthread_mutex_t mutex;

    make(&mutex, PTHREAD_MUTEX_RECURSIVE);
    for (int i = 0; i < 10; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_lock(&mutex);
        expect(pthread_mutex_trylock(&mutex), 0);
        for (int k = 0; k < 3; k++)
            expect(pthread_mutex_unlock(&mutex), 0);
        expect(pthread_mutex_unlock(&mutex), EPERM);
    }
    pthread_mutex_destroy(&mutex);
}

static void error_checking(void)
{
    pthread_mutex_t mutex;

    make(&mutex, PTHREAD_MUTEX_ERRORCHECK);
    expect(pthread_mutex_unlock(&mutex), EPERM);
    expect(pthread_mutex_lock(&mutex), 0);
    expect(pthread_mutex_lock(&mutex), EDEADLK);
    expect(pthread_mutex_unlock(&mutex), 0);
    expect(pthread_mutex_unlock(&mutex), EPERM);
    pthread_mutex_destroy(&mutex);
}

static void adaptive_and_inheriting(void)
{
    pthread_mutex_t mutex;
    pthread_mutexattr_t attributes;

    make(&mutex, PTHREAD_MUTEX_ADAPTIVE_NP);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    pthread_mutex_destroy(&mutex);

    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&mutex, &attributes);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    pthread_mutex_destroy(&mutex);
}

static void locks_that_are_not_got(void)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    struct timespec past = {1, 0};

    pthread_mutex_lock(&mutex);
    expect(pthread_mutex_trylock(&mutex), EBUSY);
    expect(pthread_mutex_timedlock(&mutex, &past), ETIMEDOUT);
    expect(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &past), ETIMEDOUT);
    pthread_mutex_unlock(&mutex);
    expect(pthread_mutex_timedlock(&mutex, &past), 0);
    pthread_mutex_unlock(&mutex);
}

/* A variable of the stack, where another mutex was before. */
static void one_address_for_many(void)
{
    for (int i = 0; i < 4; i++) {
        pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

        pthread_mutex_lock(&mutex);
        /* Left locked, and made anew. */
        if (i % 2 == 0)
            memset(&mutex, 0, sizeof mutex);
        else
            pthread_mutex_init(&mutex, NULL);
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
}

static void allocated_mutexes(void)
{
    for (int i = 0; i < 10; i++) {
        pthread_mutex_t *mutex = malloc(sizeof *mutex);

        pthread_mutex_init(mutex, NULL);
        pthread_mutex_lock(mutex);
        pthread_mutex_unlock(mutex);
        pthread_mutex_destroy(mutex);
        free(mutex);
    }
}

/* The functions of C have the same mutexes beneath. */
static void mutexes_of_c(void)
{
    mtx_t mutex;
    struct timespec past = {1, 0};

    mtx_init(&mutex, mtx_timed | mtx_recursive);
    for (int i = 0; i < 5; i++) {
        mtx_lock(&mutex);
        expect(mtx_trylock(&mutex), thrd_success);
        expect(mtx_timedlock(&mutex, &past), thrd_success);
        mtx_unlock(&mutex);
        mtx_unlock(&mutex);
        mtx_unlock(&mutex);
    }
    mtx_destroy(&mutex);
}

static pthread_mutex_t shared;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ready;

static void *wait_for_it(void *argument)
{
    pthread_mutex_lock(&shared);
    while (!ready)
        pthread_cond_wait(&changed, &shared);
    pthread_mutex_unlock(&shared);
    return argument;
}

static void wait_with(int kind)
{
    pthread_t threads[3];
    struct timespec past = {1, 0};

    ready = 0;
    make(&shared, kind);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, wait_for_it, NULL);
    pthread_mutex_lock(&shared);
    expect(pthread_cond_timedwait(&changed, &shared, &past), ETIMEDOUT);
    ready = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&shared);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_destroy(&shared);
}

static void condition_variables(void)
{
    wait_with(PTHREAD_MUTEX_NORMAL);
    wait_with(PTHREAD_MUTEX_RECURSIVE);
    wait_with(PTHREAD_MUTEX_ERRORCHECK);
}

int main(void)
{
    USE(recursive);
    USE(error_checking);
    USE(adaptive_and_inheriting);
    USE(locks_that_are_not_got);
    USE(one_address_for_many);
    USE(allocated_mutexes);
    USE(mutexes_of_c);
    USE(condition_variables);
    return end_of_uses();
}
