/* Threads wait in system calls that fail with EINTR after a stop, while the first calls a
 * function from many places. Prints how often it was called, and how many of the waits were
 * interrupted. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { WAITS = 4, SPACES_MS = 20 };

static const struct timespec wait_time = { 0, 400000000 };
static pthread_barrier_t begun;

__attribute__((noinline)) long work(long x)
{
    __asm__ volatile("" : "+r"(x));
    return x + 1;
}

static long wait_for_file(void)
{
    struct epoll_event event;

    return epoll_wait(epoll_create1(0), &event, 1, 400);
}

static long wait_for_semaphore(void)
{
    struct sembuf down = { 0, -1, 0 };
    int set = semget(IPC_PRIVATE, 1, 0600 | IPC_CREAT);
    long result = semtimedop(set, &down, 1, &wait_time);
    int error = errno;

    semctl(set, 0, IPC_RMID);
    errno = error;
    return result;
}

static long wait_for_signal(void)
{
    sigset_t signals;

    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR2);
    return sigtimedwait(&signals, NULL, &wait_time);
}

static long wait_for_data(void)
{
    int ends[2];
    char byte;
    struct timeval timeout = { 0, 400000 };

    socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
    setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    return recv(ends[0], &byte, 1, 0);
}

static long (*const waits[WAITS])(void) = {
    wait_for_file, wait_for_semaphore, wait_for_signal, wait_for_data,
};

static void *run(void *wait)
{
    pthread_barrier_wait(&begun);
    long result = (*(long (*const *)(void))wait)();
    return (void *)(long)(result < 0 && errno == EINTR);
}

#define CALL(n) if (n % 2 == 0) usleep(SPACES_MS * 1000); sum += work(n)

int main(void)
{
    pthread_t threads[WAITS];
    long interrupted = 0, sum = 0;
    sigset_t signals;

    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR2);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    pthread_barrier_init(&begun, NULL, WAITS + 1);
    for (int i = 0; i < WAITS; i++)
        pthread_create(&threads[i], NULL, run, (void *)&waits[i]);
    pthread_barrier_wait(&begun);
    CALL(0); CALL(1); CALL(2); CALL(3); CALL(4); CALL(5); CALL(6); CALL(7); CALL(8); CALL(9);
    for (int i = 0; i < WAITS; i++) {
        void *is_interrupted;
        pthread_join(threads[i], &is_interrupted);
        interrupted += (long)is_interrupted;
    }
    printf("sum %ld interrupted %ld\n", sum, interrupted);
    return 0;
}
