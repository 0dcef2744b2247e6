// Counts the signals of a timer while it reads, polls, computes and writes; with an argument its
// calls go on behind the handler.
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static volatile int ticks;
static unsigned long trail;

static void tick(int signal, siginfo_t *information, void *context) {
    ticks++;
    trail = trail * 7 + information->si_code + ticks;
}

int main(int argc, char **argv) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = tick;
    action.sa_flags = SA_SIGINFO | (argc > 1 ? SA_RESTART : 0);
    sigaction(SIGALRM, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
    struct itimerval period = {{0, 3000}, {0, 3000}};
    setitimer(ITIMER_REAL, &period, NULL);
    int ends[2], interrupted = 0, polled = 0;
    volatile unsigned long work = 0;
    char byte;
    if (pipe(ends) != 0)
        return 2;
    if (fork() == 0) {
        usleep(60000);
        _exit(write(ends[1], "x", 1) == 1 ? 0 : 1);
    }
    while (read(ends[0], &byte, 1) != 1)
        interrupted += errno == EINTR;
    for (int turn = 0; turn < 5; turn++) {
        struct pollfd end = {ends[0], POLLIN, 0};
        polled += poll(&end, 1, 7) < 0 && errno == EINTR;
    }
    for (int turn = 0; turn < 20; turn++) {
        for (int count = 0; count < 200000; count++)
            work += count * turn;
        if (write(1, ".", 1) != 1)
            return 2;
        if (turn % 5 == 0)
            raise(SIGUSR1);
    }
    printf("\nticks %d, trail %lu, interrupted %d, polled %d\n", ticks, trail, interrupted, polled);
    return 0;
}
