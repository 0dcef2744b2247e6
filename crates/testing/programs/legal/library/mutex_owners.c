/* Mutexes whose owner is gone, or is another process. */
#define _GNU_SOURCE
#include "use.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t robust;

static void *die_with_it(void *argument)
{
    pthread_mutex_lock(&robust);
    return argument;
}

static void the_owner_died(void)
{
    pthread_mutexattr_t attributes;
    pthread_t thread;

    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&robust, &attributes);
    for (int i = 0; i < 3; i++) {
        pthread_create(&thread, NULL, die_with_it, NULL);
        pthread_join(thread, NULL);
        if (pthread_mutex_lock(&robust) != EOWNERDEAD)
            abort();
        pthread_mutex_consistent(&robust);
        pthread_mutex_unlock(&robust);
    }
    /* Nobody makes it consistent: nobody can lock it any more. */
    pthread_create(&thread, NULL, die_with_it, NULL);
    pthread_join(thread, NULL);
    if (pthread_mutex_lock(&robust) != EOWNERDEAD)
        abort();
    pthread_mutex_unlock(&robust);
    if (pthread_mutex_lock(&robust) != ENOTRECOVERABLE)
        abort();
    pthread_mutex_destroy(&robust);
}

static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;

static void fork_with_a_lock(void)
{
    pthread_mutex_lock(&plain);
    pid_t child = fork();
    pthread_mutex_unlock(&plain);
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
}

static void lock_all(void)
{
    pthread_mutex_lock(&plain);
}

static void unlock_all(void)
{
    pthread_mutex_unlock(&plain);
}

static void handlers_of_fork(void)
{
    pthread_atfork(lock_all, unlock_all, unlock_all);
    for (int i = 0; i < 3; i++) {
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        waitpid(child, NULL, 0);
    }
}

static void a_mutex_of_two_processes(void)
{
    pthread_mutexattr_t attributes;
    pthread_mutex_t *mutex = mmap(NULL, sizeof *mutex, PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(mutex, &attributes);
    pid_t child = fork();
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(mutex);
        pthread_mutex_unlock(mutex);
    }
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    pthread_mutex_destroy(mutex);
    munmap(mutex, sizeof *mutex);
}

static void *lock_and_go_on(void *argument)
{
    for (int i = 0; i < 100; i++) {
        while (pthread_mutex_trylock(argument) != 0)
            sched_yield();
        pthread_mutex_unlock(argument);
    }
    return argument;
}

static void many_try(void)
{
    pthread_t threads[3];

    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, lock_and_go_on, &plain);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}

static void the_process_ends_with_a_lock(void)
{
    pthread_mutex_lock(&plain);
    exit(0);
}

int main(void)
{
    USE(the_owner_died);
    USE(fork_with_a_lock);
    USE(handlers_of_fork);
    USE(a_mutex_of_two_processes);
    USE(many_try);
    LAST_USE(the_process_ends_with_a_lock);
}
