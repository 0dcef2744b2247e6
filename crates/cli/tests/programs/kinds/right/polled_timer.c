// All threads wait in the kernel, one for a pipe of the program's own or a timer, which ends the wait.
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/timerfd.h>
#include <unistd.h>

static int ends[2], timer;

static void *await_timer(void *unused) {
    uint64_t count;
    struct pollfd both[2] = {{.fd = timer, .events = POLLIN}, {.fd = ends[0], .events = POLLIN}};
    struct itimerspec once = {.it_value = {.tv_sec = 2}};
    timerfd_settime(timer, 0, &once, 0);
    if (poll(both, 2, -1) == 1 && read(timer, &count, sizeof count) == sizeof count)
        (void)!write(1, "the timer\n", 10);
    return unused;
}

int main(void) {
    pthread_t thread;
    timer = timerfd_create(CLOCK_MONOTONIC, 0);
    if (timer < 0 || pipe(ends) != 0)
        return 1;
    pthread_create(&thread, 0, await_timer, 0);
    pthread_join(thread, 0);
    return 0;
}
