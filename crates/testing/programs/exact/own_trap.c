/* Executes ten traps of its own, which it handles, and passes after each. */
#include <signal.h>
#include <stdio.h>

static volatile int traps, passes;

__attribute__((noinline)) void point(int n)
{
    passes += n;
}

static void on_trap(int signal)
{
    (void)signal;
    traps++;
}

int main(void)
{
    signal(SIGTRAP, on_trap);
    for (int i = 0; i < 10; i++) {
        __asm__ volatile("int3");
        point(1);
    }
    printf("program: %d traps handled\n", traps);
    return 0;
}
