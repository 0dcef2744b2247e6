// A signal handler on a stack of its own in the heap, which returns or jumps out of it, in
// turn by `siglongjmp` and by `setcontext`.
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

static sigjmp_buf place;
static ucontext_t context;
static volatile int now, was_left;
static long entered, returned;

__attribute__((noinline)) void work(int n) {
    entered++;
    if (n % 4 == 1)
        siglongjmp(place, 1);
    if (n % 4 == 3) {
        was_left = 1;
        setcontext(&context);
    }
    returned++;
}

static void handle(int signal) {
    work(now);
    __asm__ volatile("" : : "r"(signal));
}

__attribute__((noinline)) void interrupted(int n) {
    now = n;
    raise(SIGUSR1);
    __asm__ volatile("");
}

// The same on the stack of the thread.
__attribute__((noinline)) int deep(int n) {
    entered++;
    if (n == 0) {
        was_left = 1;
        setcontext(&context);
    }
    int result = deep(n - 1);
    __asm__ volatile("" : "+r"(result));
    return result;
}

int main(void) {
    stack_t stack = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
    sigaltstack(&stack, 0);
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK | SA_NODEFER};
    sigaction(SIGUSR1, &action, 0);
    for (volatile int i = 0; i < 12; i++) {
        was_left = 0;
        getcontext(&context);
        if (!was_left && !sigsetjmp(place, 1))
            interrupted(i);
    }
    was_left = 0;
    getcontext(&context);
    if (!was_left)
        deep(3);
    printf("entered %ld returned %ld unwound %ld\n", entered, returned, entered - returned);
}
