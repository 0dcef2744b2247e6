/* A handler that jumps out of what it interrupted: of a call, and of a line. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

static sigjmp_buf place;
static volatile int faults, rounds;

static void on_fault(int number)
{
    (void)number;
    siglongjmp(place, 1);
}

__attribute__((noinline)) static void poke(volatile int *at)
{
    *at = 3; /* faults */
}

int main(void)
{
    signal(SIGSEGV, on_fault);
    for (rounds = 0; rounds < 2; rounds++) {
        if (sigsetjmp(place, 1) == 0)
            poke(0);
        else
            faults++; /* goes on here */
    }
    volatile int *nowhere = 0;
    if (sigsetjmp(place, 1) == 0)
        faults = *nowhere; /* in its line */
    else
        faults++; /* and here */
    printf("faults %d\n", faults); /* the end */
    return 0;
}
