// A handler comes between the two halves of a change.
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static volatile int low, high;
static pthread_t worker;

static void handle(int signal) {
    (void)signal;
    assert(low == high);
}

static void *change(void *unused) {
    for (int i = 1; i <= 3; i++) {
        low = i;
        high = i;
    }
    return unused;
}

int main(void) {
    struct sigaction action = {.sa_handler = handle};
    sigaction(SIGUSR1, &action, 0);
    pthread_create(&worker, 0, change, 0);
    pthread_kill(worker, SIGUSR1);
    pthread_join(worker, 0);
    return 0;
}
