/* Calls `take` and `give` in several threads, in handlers, in children and in threads that end
 * soon, until its input ends; one thread waits for that in a call that fails with EINTR after a
 * stop. Tells its number and the address of `take`; at the end, how often
 * something was not as it should be, how many children were ended by a signal, and whether the call failed. The argument is the pause between calls in
 * microseconds; none for -1. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WORKERS = 2, KEYS = 97 };

static volatile int ends;
static volatile long beats[WORKERS + 1], handled;
static long damage, lost_children, interrupted, pause_us;
static int ended[2];

/* The flags matter in the first instructions of both. */
__attribute__((naked, noinline, noclone)) long take(long key __attribute__((unused)))
{
    __asm__("clc\n setc %al\n movzbl %al, %eax\n lea 1(%rdi,%rdi,2), %rdx\n add %rdx, %rax\n ret");
}

__attribute__((naked, noinline, noclone)) long give(long key __attribute__((unused)))
{
    __asm__("stc\n setc %al\n movzbl %al, %eax\n add %rdi, %rax\n ret");
}

/* Below the stack pointer there are bytes in use, and vector registers hold values. */
static int is_wrong(long key)
{
    long taken, given, kept;

    __asm__ volatile("sub $128, %%rsp\n stc\n movq %2, %%xmm15\n call take\n"
                     "movq %%xmm15, %1\n add $128, %%rsp"
                     : "=a"(taken), "=&b"(kept)
                     : "D"(key)
                     : "memory", "cc", "rcx", "rdx", "r8", "r9", "r10", "r11", "xmm15");
    given = give(key);
    return taken != 3 * key + 1 || given != key + 1 || kept != key;
}

static void handle(int signal)
{
    (void)signal;
    handled++;
    if (is_wrong(handled % KEYS))
        __atomic_fetch_add(&damage, 1, __ATOMIC_RELAXED);
}

static void *work(void *number)
{
    long id = (long)number;

    for (long key = 0; !ends; key = (key + 1) % KEYS) {
        void *block = malloc(16 + key);
        if (block == NULL || is_wrong(key))
            __atomic_fetch_add(&damage, 1, __ATOMIC_RELAXED);
        free(block);
        beats[id]++;
        if (pause_us >= 0) {
            struct timespec pause = { 0, pause_us * 1000 };
            nanosleep(&pause, NULL);
        }
    }
    return NULL;
}

static void *be_short(void *number)
{
    return (void *)(long)is_wrong((long)number);
}

static void make(long number)
{
    pthread_t thread;
    void *wrong;
    int status;
    pid_t child;

    if (pthread_create(&thread, NULL, be_short, (void *)(number % KEYS)) == 0) {
        pthread_join(thread, &wrong);
        damage += wrong != NULL;
    }
    child = fork();
    if (child == 0)
        _exit(is_wrong(3) ? 8 : 7);
    damage += waitpid(child, &status, 0) != child
              || (WIFEXITED(status) && WEXITSTATUS(status) != 7);
    lost_children += !WIFEXITED(status);
    beats[WORKERS]++;
}

static void *make_all(void *unused)
{
    for (long number = 0; !ends; number++) {
        make(number);
        usleep(2000);
    }
    return unused;
}

static void *wait_for_end(void *unused)
{
    struct epoll_event event = { .events = EPOLLIN };
    int set = epoll_create1(0);

    epoll_ctl(set, EPOLL_CTL_ADD, ended[0], &event);
    interrupted = epoll_wait(set, &event, 1, -1) != 1;
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t waiter;
    sigset_t alarms;
    pthread_t threads[WORKERS + 1];
    struct itimerval often = { { 0, 1000 }, { 0, 1000 } };
    struct sigaction action = { .sa_handler = handle, .sa_flags = SA_RESTART };
    char byte;

    pause_us = argc > 1 ? atol(argv[1]) : 0;
    sigaction(SIGALRM, &action, NULL);
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    sigprocmask(SIG_BLOCK, &alarms, NULL);
    if (pipe(ended))
        return 2;
    pthread_create(&waiter, NULL, wait_for_end, NULL);
    sigprocmask(SIG_UNBLOCK, &alarms, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (long i = 0; i < WORKERS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    pthread_create(&threads[WORKERS], NULL, make_all, NULL);
    printf("%d %lx %lx\n", getpid(), (long)take, (long)beats);
    fflush(stdout);
    while (read(0, &byte, 1) > 0)
        ;
    ends = 1;
    for (int i = 0; i <= WORKERS; i++)
        pthread_join(threads[i], NULL);
    if (write(ended[1], "", 1) != 1)
        damage++;
    pthread_join(waiter, NULL);
    printf("damage %ld, lost children %ld, interrupted %ld\n", damage, lost_children, interrupted);
    return damage != 0;
}
