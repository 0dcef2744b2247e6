// Handlers end the waits of others: a semaphore that is posted, and a sleep.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>
static sem_t posted;
static pthread_t sleeper;
static volatile sig_atomic_t handled;

static void post(int signal) {
    (void)signal;
    handled++;
    sem_post(&posted);
}

static void *wait_for_it(void *unused) {
    // It begins again behind the handler.
    assert(sem_wait(&posted) == 0);
    return unused;
}

static void *send(void *unused) {
    pthread_kill(sleeper, SIGUSR1);
    return unused;
}

int main(void) {
    pthread_t sender;
    struct sigaction action = {.sa_handler = post, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, 0);
    sigaction(SIGALRM, &action, 0);
    sem_init(&posted, 0, 0);
    pthread_create(&sleeper, 0, wait_for_it, 0);
    pthread_create(&sender, 0, send, 0);
    pthread_join(sender, 0);
    pthread_join(sleeper, 0);
    assert(handled == 1);
    ualarm(1000, 0);
    assert(sem_wait(&posted) == 0 && handled == 2);
    return 0;
}
