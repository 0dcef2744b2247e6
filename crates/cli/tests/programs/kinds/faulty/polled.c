// A thread that polls an event descriptor and a pipe, and a starter that tells it nothing if it is late.
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int event, ends[2];
static volatile int waits;

static void *await_one(void *unused) {
    struct pollfd both[2] = {{.fd = event, .events = POLLIN}, {.fd = ends[0], .events = POLLIN}};
    waits = 1;
    poll(both, 2, -1);
    return unused;
}

int main(void) {
    pthread_t thread;
    uint64_t one = 1;
    event = eventfd(0, 0);
    if (event < 0 || pipe(ends) != 0)
        return 1;
    pthread_create(&thread, 0, await_one, 0);
    if (waits)
        (void)!write(event, &one, sizeof one);
    else
        (void)!write(event, &one, 0);
    pthread_join(thread, 0);
    return 0;
}
