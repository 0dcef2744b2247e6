/* Is attached to: one thread waits in a system call that fails with EINTR after a stop, one
 * in `hold`, and one in a handler that returns into the first instructions of `follow`. As
 * soon as the code of `work` has been changed, they go on, and `work` is called. Prints what
 * has happened. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <ucontext.h>
#include <unistd.h>

enum { WORKERS = 2, CALLS = 500, LENGTH = 8 };

static int go_on[2], handled[2], waited[2];
static long number = 7;
static long faults, interrupted;

__attribute__((noinline)) long work(long x)
{
    __asm__ volatile("" : "+r"(x));
    return x + 1;
}

__attribute__((noinline)) long hold(long x)
{
    char byte;

    if (x == 0 && read(go_on[0], &byte, 1) != 1)
        return -1;
    return x + 42;
}

/* Its second instruction is in the middle of the first five bytes. */
__attribute__((naked, noinline)) long follow(long *pointer)
{
    __asm__("xorl %eax, %eax\n"
            "addq (%rdi), %rax\n"
            "addq $1, %rax\n"
            "ret\n");
}

static void handle(int signal, siginfo_t *information, void *context)
{
    char byte;

    (void)signal, (void)information;
    faults++;
    if (read(handled[0], &byte, 1) == 1)
        ((ucontext_t *)context)->uc_mcontext.gregs[REG_RDI] = (long)&number;
}

static void *call_follow(void *bad)
{
    return (void *)follow(bad);
}

static void *call_hold(void *unused)
{
    return (void *)hold((long)unused);
}

static void *wait_for_event(void *unused)
{
    struct epoll_event event = { .events = EPOLLIN };
    int set = epoll_create1(0);

    epoll_ctl(set, EPOLL_CTL_ADD, waited[0], &event);
    interrupted += epoll_wait(set, &event, 1, -1) != 1;
    return unused;
}

static void *call_work(void *first)
{
    long bad = 0;

    for (long i = (long)first; i < (long)first + CALLS; i++)
        bad += work(i) != i + 1;
    return (void *)bad;
}

static long joined(pthread_t thread)
{
    void *result;

    pthread_join(thread, &result);
    return (long)result;
}

int main(void)
{
    pthread_t waiter, holder, follower, workers[WORKERS];
    struct sigaction action = { .sa_sigaction = handle, .sa_flags = SA_SIGINFO };
    char before[LENGTH];
    long bad = 0;

    memcpy(before, (const char *)work, LENGTH);
    sigaction(SIGSEGV, &action, NULL);
    if (pipe(go_on) || pipe(handled) || pipe(waited))
        return 2;
    pthread_create(&waiter, NULL, wait_for_event, NULL);
    pthread_create(&holder, NULL, call_hold, NULL);
    pthread_create(&follower, NULL, call_follow, (void *)16);
    usleep(100000);
    puts("ready");
    fflush(stdout);
    while (memcmp(before, (const char *)work, LENGTH) == 0)
        usleep(1000);
    write(go_on[1], "", 1);
    write(handled[1], "", 1);
    long held = joined(holder);
    long followed = joined(follower);
    for (long i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, call_work, (void *)(i * CALLS));
    for (long i = 0; i < WORKERS; i++)
        bad += joined(workers[i]);
    hold(1);
    follow(&number);
    write(waited[1], "", 1);
    joined(waiter);
    printf("work %d bad %ld held %ld followed %ld faults %ld interrupted %ld\n",
           WORKERS * CALLS, bad, held, followed, faults, interrupted);
    return 3;
}
