/*
 * The point is on a system call that blocks, a wait for a futex, until another
 * thread wakes it; twenty times.
 */
#define _GNU_SOURCE
#include "point.h"
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static int word;
static volatile int woken;

long wait_for(int *word, int operation, int value);

__asm__(".globl wait_for\n.type wait_for,@function\n"
        "wait_for: xor %r10d, %r10d\n"
        "mov $202, %eax\n" /* futex */
        POINT "syscall\n"
        "ret\n"
        POINT_END);

static void *wake(void *unused)
{
    while (!woken)
        if (syscall(SYS_futex, &word, 1, 1) > 0)
            woken = 1;
    return unused;
}

int main(void)
{
    int waits = 0;

    for (int i = 0; i < 20; i++) {
        pthread_t waker;

        woken = 0;
        pthread_create(&waker, NULL, wake, NULL);
        waits += wait_for(&word, 0, 0) == 0;
        pthread_join(waker, NULL);
    }
    printf("program: %d waits\n", waits);
    return 0;
}
