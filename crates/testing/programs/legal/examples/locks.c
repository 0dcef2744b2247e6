/* Locks that two threads take in one order, or not at once. */
#define _GNU_SOURCE
#include "use.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t c = PTHREAD_MUTEX_INITIALIZER;

/* Runs a function in two threads, one after the other, so that it always ends. */
static void twice(void *(*function)(void *), void *first, void *second)
{
    pthread_t thread;

    pthread_create(&thread, NULL, function, first);
    pthread_join(thread, NULL);
    pthread_create(&thread, NULL, function, second);
    pthread_join(thread, NULL);
}

static void *take(void *mutex)
{
    pthread_mutex_lock(mutex);
    pthread_mutex_unlock(mutex);
    return NULL;
}

static void one_lock(void)
{
    twice(take, &a, &a);
}

static void *take_in_order(void *unused)
{
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&c);
    pthread_mutex_unlock(&c);
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    return unused;
}

static void one_order(void)
{
    twice(take_in_order, NULL, NULL);
}

/* The order in which they are released makes no difference. */
static void *release_first(void *unused)
{
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return unused;
}

static void released_in_either_order(void)
{
    twice(take_in_order, NULL, NULL);
    twice(release_first, NULL, NULL);
}

/* Hand over hand along a list. */
static void *hand_over_hand(void *unused)
{
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    pthread_mutex_unlock(&a);
    pthread_mutex_lock(&c);
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&c);
    return unused;
}

static void along_a_list(void)
{
    twice(hand_over_hand, NULL, NULL);
}

static void *one_after_the_other(void *second)
{
    take(second == &a ? &b : &a);
    take(second);
    return NULL;
}

static void never_both(void)
{
    twice(one_after_the_other, &a, &b);
}

/* Whoever only tries to get the second one waits for nobody. */
static void *try_the_other(void *first)
{
    pthread_mutex_t *second = first == &a ? &b : &a;

    pthread_mutex_lock(first);
    if (pthread_mutex_trylock(second) == 0)
        pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
    return NULL;
}

static void tried_in_either_order(void)
{
    twice(try_the_other, &a, &b);
}

static pthread_mutex_t own[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

static void *both_orders(void *unused)
{
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&own[i]);
        pthread_mutex_lock(&own[1 - i]);
        pthread_mutex_unlock(&own[1 - i]);
        pthread_mutex_unlock(&own[i]);
    }
    return unused;
}

static void both_orders_in_one_thread(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, both_orders, NULL);
    pthread_join(thread, NULL);
}

static void *many_times(void *unused)
{
    for (int i = 0; i < 20; i++)
        take_in_order(NULL);
    return unused;
}

static void at_the_same_time(void)
{
    pthread_t threads[3];

    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, many_times, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}

static void the_child_has_its_own(void)
{
    pid_t child = fork();

    if (child == 0) {
        pthread_mutex_lock(&b);
        pthread_mutex_lock(&a);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

static void the_end_with_a_lock(void)
{
    pthread_mutex_lock(&a);
    exit(0);
}

int main(void)
{
    USE(one_lock);
    USE(one_order);
    USE(released_in_either_order);
    USE(along_a_list);
    USE(never_both);
    USE(tried_in_either_order);
    USE(both_orders_in_one_thread);
    USE(at_the_same_time);
    USE(the_child_has_its_own);
    LAST_USE(the_end_with_a_lock);
}
