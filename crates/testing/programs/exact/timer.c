/*
 * Passes 3000 times while a timer interrupts it: `timer MICROSECONDS`. The
 * handler has no point in it.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

static volatile long passes, ticks;

__attribute__((noinline)) void point(long n)
{
    passes += n;
}

static void tick(int signal)
{
    (void)signal;
    ticks++;
}

int main(int argc, char **argv)
{
    int interval_us = argc > 1 ? atoi(argv[1]) : 1000;
    struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART};
    struct itimerval timer = {{0, interval_us}, {0, interval_us}};
    struct itimerval none = {{0, 0}, {0, 0}};

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
    for (int i = 0; i < 3000; i++)
        point(1);
    setitimer(ITIMER_REAL, &none, NULL);
    printf("program: %ld passes\n", passes);
    return 0;
}
