/* Threads that are cancelled, detached, or still there when the process ends. */
#define _GNU_SOURCE
#include "use.h"

#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>

static sem_t begun;
static sem_t done;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

static void cancel(void *(*function)(void *))
{
    pthread_t thread;

    pthread_create(&thread, NULL, function, NULL);
    sem_wait(&begun);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
}

static void *wait_for_ever(void *argument)
{
    sem_post(&begun);
    pause();
    return argument;
}

static void while_it_waits(void)
{
    for (int i = 0; i < 5; i++)
        cancel(wait_for_ever);
}

static void *allocate_for_ever(void *argument)
{
    sem_post(&begun);
    for (;;) {
        void *block = malloc(100);

        pthread_cleanup_push(free, block);
        pthread_testcancel();
        pthread_cleanup_pop(1);
    }
    return argument;
}

static void while_it_has_a_block(void)
{
    cancel(allocate_for_ever);
}

static void unlock(void *argument)
{
    pthread_mutex_unlock(argument);
}

static void *wait_with_a_lock(void *argument)
{
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(unlock, &mutex);
    sem_post(&begun);
    for (;;)
        pthread_cond_wait(&never, &mutex);
    pthread_cleanup_pop(1);
    return argument;
}

static void while_it_waits_for_a_condition(void)
{
    for (int i = 0; i < 3; i++) {
        cancel(wait_with_a_lock);
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
}

static void close_file(void *file)
{
    close(*(int *)file);
}

static void *wait_with_a_file(void *argument)
{
    int file = open("/dev/null", O_RDONLY);

    pthread_cleanup_push(close_file, &file);
    sem_post(&begun);
    pause();
    pthread_cleanup_pop(1);
    return argument;
}

static void while_it_has_a_file(void)
{
    cancel(wait_with_a_file);
}

static void *end_alone(void *argument)
{
    free(malloc(40));
    sem_post(&done);
    return argument;
}

static void detached_threads(void)
{
    pthread_t thread;

    for (int i = 0; i < 5; i++) {
        pthread_create(&thread, NULL, end_alone, NULL);
        pthread_detach(thread);
        sem_wait(&done);
    }
}

static void *exit_from_a_thread(void *argument)
{
    free(malloc(5));
    exit(0);
    return argument;
}

static void the_end_from_another_thread(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, wait_for_ever, NULL);
    sem_wait(&begun);
    pthread_create(&thread, NULL, exit_from_a_thread, NULL);
    /* The first thread ends before the process. */
    pthread_exit(NULL);
}

int main(void)
{
    sem_init(&begun, 0, 0);
    sem_init(&done, 0, 0);
    USE(while_it_waits);
    USE(while_it_has_a_block);
    USE(while_it_waits_for_a_condition);
    USE(while_it_has_a_file);
    USE(detached_threads);
    LAST_USE(the_end_from_another_thread);
}
