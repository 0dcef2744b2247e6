#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
static volatile sig_atomic_t handled;
static volatile int is_done;
static int ends[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void handle(int signal) {
    int saved = errno;
    (void)signal;
    handled++;
    errno = saved;
}

static void *work(void *unused) {
    char byte;
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&lock);
        count++;
        pthread_mutex_unlock(&lock);
    }
    assert(read(ends[0], &byte, 1) == 1);
    return unused;
}

int main(void) {
    pthread_t worker;
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, 0);
    assert(pipe(ends) == 0);
    pthread_create(&worker, 0, work, 0);
    for (int i = 0; i < 3; i++)
        pthread_kill(worker, SIGUSR1);
    pthread_mutex_lock(&lock);
    count++;
    pthread_mutex_unlock(&lock);
    assert(write(ends[1], "x", 1) == 1);
    pthread_join(worker, 0);
    assert(handled >= 1 && handled <= 3 && count == 4);
    return is_done;
}
