#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>
static sigset_t set;
static pthread_t waiter;
static volatile sig_atomic_t handled;

static void handle(int signal) {
    (void)signal;
    handled++;
}

static void *wait_for_two(void *unused) {
    int signal = 0;
    assert(sigwait(&set, &signal) == 0 && signal == SIGUSR1);
    struct timespec until = {500, 0};
    assert(sigtimedwait(&set, 0, &until) == SIGTERM);
    return unused;
}

static void *send(void *unused) {
    pthread_kill(waiter, SIGUSR1);
    pthread_kill(waiter, SIGTERM);
    raise(SIGUSR2);
    return unused;
}

int main(void) {
    pthread_t sender;
    struct sigaction action = {.sa_handler = handle};
    sigaction(SIGUSR2, &action, 0);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set, 0);
    pthread_create(&waiter, 0, wait_for_two, 0);
    pthread_create(&sender, 0, send, 0);
    pthread_join(sender, 0);
    pthread_join(waiter, 0);
    assert(handled == 1);
    return 0;
}
