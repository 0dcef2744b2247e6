/*
 * The first thread waits in the system call at `point`, twice. Each time, the
 * other one sees it sleep, goes through `look`, and wakes it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int word;
static char stat_path[64];
static volatile int waits;

long wait_for(int *word, int operation, int value);

__asm__(".globl wait_for\n.globl point\n.type wait_for,@function\n"
        ".cfi_startproc\n"
        "wait_for: xor %r10d, %r10d\n"
        "mov $202, %eax\n" /* futex */
        "point: syscall\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size wait_for, . - wait_for\n");

__attribute__((noinline)) void look(int n)
{
    __asm__ volatile("" : : "r"(n) : "memory");
}

/* Whether the first thread sleeps, which it does in that call alone. */
static int sleeps(void)
{
    char stat[256] = "";
    int file = open(stat_path, O_RDONLY);
    ssize_t length = read(file, stat, sizeof stat - 1);

    close(file);
    return length > 0 && strstr(stat, ") S ") != NULL;
}

static void *wake(void *unused)
{
    for (int n = 1; n <= 2; n++) {
        while (waits != n || !sleeps())
            ;
        look(n);
        while (syscall(SYS_futex, &word, 1, 1) != 1)
            ;
    }
    return unused;
}

static int wait_here(void)
{
    waits++;
    return (int)wait_for(&word, 0, 0);
}

int main(void)
{
    pthread_t waker;
    int failed;

    snprintf(stat_path, sizeof stat_path, "/proc/self/task/%d/stat", getpid());
    pthread_create(&waker, NULL, wake, NULL);
    failed = wait_here();
    failed += wait_here();
    pthread_join(waker, NULL);
    printf("%d failed\n", failed);
    return failed;
}
