/* Rings of several sizes and lives. */
#include "ring.h"
#include "use.h"

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void exchange(struct ring *ring, int jobs)
{
    for (int job = 0; job < jobs; job++) {
        ring_push(ring, job);
        if (ring_pop(ring) != job)
            abort();
    }
}

static void filled_and_emptied(void)
{
    struct ring *ring = ring_new(8);

    for (int round = 0; round < 3; round++) {
        for (int job = 0; job < 8; job++)
            ring_push(ring, job);
        for (int job = 0; job < 8; job++)
            ring_pop(ring);
    }
    ring_delete(ring);
}

static void round_and_round(void)
{
    struct ring *ring = ring_new(3);

    ring_push(ring, -1);
    for (int job = 0; job < 50; job++) {
        ring_push(ring, job);
        ring_pop(ring);
    }
    ring_pop(ring);
    ring_delete(ring);
}

static void one_place(void)
{
    struct ring *ring = ring_new(1);

    exchange(ring, 10);
    ring_delete(ring);
}

static void no_place(void)
{
    ring_delete(ring_new(0));
}

static void no_memory(void)
{
    if (ring_new(SIZE_MAX / 8) != NULL || ring_new(SIZE_MAX / 8) != NULL)
        abort();
    ring_delete(NULL);
}

static void two_by_turns(void)
{
    struct ring *small = ring_new(1);
    struct ring *large = ring_new(10);

    for (int job = 0; job < 10; job++) {
        ring_push(small, job);
        ring_push(large, ring_pop(small));
    }
    ring_delete(small);
    /* Jobs may be left. */
    ring_delete(large);
}

static void one_address_again_and_again(void)
{
    for (size_t size = 4; size > 0; size--) {
        struct ring *ring = ring_new(size);

        for (size_t i = 0; i < size; i++)
            ring_push(ring, 0);
        ring_delete(ring);
    }
}

static void deeper(struct ring *ring, int depth)
{
    ring_push(ring, depth);
    if (depth > 1)
        deeper(ring, depth - 1);
    ring_pop(ring);
}

static void a_job_for_each_call(void)
{
    struct ring *ring = ring_new(6);

    deeper(ring, 6);
    ring_delete(ring);
}

static pthread_mutex_t ring_lock = PTHREAD_MUTEX_INITIALIZER;
static struct ring *shared;

enum { JOBS = 60 };

static void *produce(void *unused)
{
    for (int job = 0; job < JOBS;) {
        pthread_mutex_lock(&ring_lock);
        if (shared->pushed - shared->popped < shared->size)
            ring_push(shared, job++);
        pthread_mutex_unlock(&ring_lock);
        sched_yield();
    }
    return unused;
}

static void *consume(void *unused)
{
    for (int jobs = 0; jobs < JOBS;) {
        pthread_mutex_lock(&ring_lock);
        if (shared->pushed > shared->popped) {
            ring_pop(shared);
            jobs++;
        }
        pthread_mutex_unlock(&ring_lock);
        sched_yield();
    }
    return unused;
}

static void threads_that_look_first(void)
{
    pthread_t threads[4];

    shared = ring_new(2);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, i % 2 == 0 ? produce : consume, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    ring_delete(shared);
}

static void two_processes(void)
{
    struct ring *ring = ring_new(1);

    ring_push(ring, 1);
    pid_t child = fork();
    ring_pop(ring);
    exchange(ring, 3);
    ring_delete(ring);
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
}

static void never_deleted(void)
{
    ring_push(ring_new(1), 1);
    exit(0);
}

int main(void)
{
    USE(filled_and_emptied);
    USE(round_and_round);
    USE(one_place);
    USE(no_place);
    USE(no_memory);
    USE(two_by_turns);
    USE(one_address_again_and_again);
    USE(a_job_for_each_call);
    USE(threads_that_look_first);
    USE(two_processes);
    LAST_USE(never_deleted);
}
