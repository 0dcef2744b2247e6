/* Two threads; the program says who it is, and whether its numbers agree. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int count, has_ended;
static volatile long number;

static void *wait_for_end(void *unused) {
    number = syscall(SYS_gettid);
    while (!has_ended)
        usleep(1000);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return (void *)(number == syscall(SYS_gettid));
}

__attribute__((noinline)) void take_step(void) { count++; }

int main(void) {
    char link[32] = "";
    pthread_t thread;
    pthread_create(&thread, 0, wait_for_end, 0);
    while (!number)
        usleep(1000);
    long process = getpid();
    if (readlink("/proc/self", link, sizeof link - 1) < 0)
        return 1;
    pthread_mutex_lock(&lock);
    for (int step = 0; step < 5; step++)
        take_step();
    pthread_mutex_unlock(&lock);
    has_ended = 1;
    void *is_same = 0;
    pthread_join(thread, &is_same);
    printf("count %d user %d listed %d process %d thread %d\n", count, (int)getuid(),
           atol(link) == process, process == getpid(), is_same != 0);
    return 0;
}
