/*
 * Producers hand jobs to consumers through one ring.
 *
 *     producers [PRODUCERS [CONSUMERS [JOBS]]]
 *
 * PRODUCERS threads (3) hand in JOBS jobs each (40), CONSUMERS threads (6) do
 * them. At the end each job must have been done exactly once.
 */
#include "ring.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { RING_SIZE = 8, THREADS_MAX = 64, JOBS_MAX = 100000 };

static struct ring *ring;
static pthread_mutex_t ring_lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t room; /* counts the free places of the ring */
static sem_t work; /* counts the jobs that may be taken */

static int jobs_per_producer = 40;
static int jobs_total;
static atomic_int jobs_claimed;
static atomic_int *times_done; /* by job */

/* Hands in one job, and waits while the ring is full. */
static void hand_in(int job)
{
    sem_wait(&room);
    pthread_mutex_lock(&ring_lock);
    ring_push(ring, job);
    pthread_mutex_unlock(&ring_lock);
    sem_post(&work);
}

/* Hands in jobs that belong together: the consumers see all of them at once. */
static void hand_in_batch(int first, int count)
{
    for (int job = first; job < first + count; job++) {
#ifdef FIXED
        hand_in(job);
#else
        /* Once this was for a single job of the only producer. */
        ring_push(ring, job);
#endif
    }
#ifndef FIXED
    for (int i = 0; i < count; i++)
        sem_post(&work);
#endif
}

/* The first producer hands in the second half of its jobs as one batch. */
static void *produce(void *argument)
{
    int producer = *(int *)argument;
    int job = producer * jobs_per_producer;
    int end = job + jobs_per_producer;
    int batch = producer == 0 ? jobs_per_producer / 2 : 0;

    for (; job < end - batch; job++)
        hand_in(job);
    if (batch > 0)
        hand_in_batch(job, batch);
    return NULL;
}

static void *consume(void *argument)
{
    (void)argument;
    while (atomic_fetch_add(&jobs_claimed, 1) < jobs_total) {
        sem_wait(&work);
        pthread_mutex_lock(&ring_lock);
        int job = ring_pop(ring);
        pthread_mutex_unlock(&ring_lock);
        sem_post(&room);
        atomic_fetch_add(&times_done[job], 1);
    }
    return NULL;
}

static void report(void)
{
    int lost = 0;
    int repeated = 0;

    for (int job = 0; job < jobs_total; job++) {
        lost += times_done[job] == 0;
        repeated += times_done[job] > 1;
    }
    printf("%d jobs handed in: %d never done, %d done more than once\n",
           jobs_total, lost, repeated);
}

/* The argument at `position` as a number from 1 to `max`; ends on any other. */
static int number(int count, char **values, int position, int otherwise, int max)
{
    if (position >= count)
        return otherwise;
    char *end;
    long value = strtol(values[position], &end, 10);
    if (*end == '\0' && value >= 1 && value <= max)
        return (int)value;
    fprintf(stderr, "%s: `%s` is not a number from 1 to %d\n",
            values[0], values[position], max);
    exit(2);
}

int main(int argc, char **argv)
{
    int producer_count = number(argc, argv, 1, 3, THREADS_MAX);
    int consumer_count = number(argc, argv, 2, 6, THREADS_MAX);
    jobs_per_producer = number(argc, argv, 3, jobs_per_producer, JOBS_MAX);
    jobs_total = producer_count * jobs_per_producer;

    pthread_t producers[THREADS_MAX];
    pthread_t consumers[THREADS_MAX];
    int producer_numbers[THREADS_MAX];

    ring = ring_new(RING_SIZE);
    times_done = calloc((size_t)jobs_total, sizeof times_done[0]);
    if (ring == NULL || times_done == NULL)
        return 1;
    sem_init(&room, 0, RING_SIZE);
    sem_init(&work, 0, 0);

    for (int i = 0; i < consumer_count; i++)
        pthread_create(&consumers[i], NULL, consume, NULL);
    for (int i = 0; i < producer_count; i++) {
        producer_numbers[i] = i;
        pthread_create(&producers[i], NULL, produce, &producer_numbers[i]);
    }
    for (int i = 0; i < producer_count; i++)
        pthread_join(producers[i], NULL);
    for (int i = 0; i < consumer_count; i++)
        pthread_join(consumers[i], NULL);

    report();
    free(times_done);
    ring_delete(ring);
    return 0;
}
