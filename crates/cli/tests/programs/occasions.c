/* Does everything that events can be about, and says how often.
   Arguments: how many threads, how many rounds in each. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

struct pair {
    int first;
    volatile int second;
};

struct {
    volatile unsigned low : 3;
    volatile unsigned high : 5;
} flags;

/* Each on pages of its own, so that watching one does not slow the others. */
#define ALONE __attribute__((aligned(4096)))

ALONE volatile long total;
ALONE volatile int same;
ALONE volatile int filled;
ALONE volatile int limit = 5;
ALONE volatile int board[16];
ALONE static volatile signed char hidden;
ALONE volatile double ratio;
ALONE struct pair pairs[2];
ALONE struct pair *volatile where = &pairs[0];
ALONE static int rounds, zero, handled;
static volatile int lines;
static volatile int seen;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void on_signal(int number) {
    (void)number;
    __atomic_add_fetch(&handled, 1, __ATOMIC_RELAXED);
}

__attribute__((noinline)) void store(int round) {
    total = total + 2;
    same = 7;
    hidden = -1 - round % 100;
    board[round % 16] = round;
    ratio = round / 4.0;
    where->second = round + 1;
    flags.high = (unsigned)round % 32;
}

static inline __attribute__((always_inline)) void mark(int step) {
    lines += step; /* the line */
    __asm__ volatile("" : : : "memory");
}

__attribute__((noinline)) void ask(void) {
    syscall(SYS_getppid);
    filled = 1;
    if (read(zero, (void *)&filled, sizeof filled) != sizeof filled)
        abort();
}

static void *work(void *unused) {
    for (int round = 0; round < rounds; round++) {
        pthread_mutex_lock(&lock);
        store(round);
        seen += limit;
        mark(1);
        if (round % 2)
            mark(1);
        ask();
        pthread_mutex_unlock(&lock);
        pthread_kill(pthread_self(), SIGUSR1);
    }
    return unused;
}

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 1;
    rounds = argc > 2 ? atoi(argv[2]) : 10;
    pthread_t ids[16];
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    zero = open("/dev/zero", O_RDONLY);
    for (int i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, work, NULL);
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    where = &pairs[1];
    where->second = -5;
    printf("total %ld\n", total);
    printf("rounds %d\n", threads * rounds);
    printf("threads %d\n", threads);
    printf("lines %d\n", lines);
    printf("handled %d\n", handled);
    return 3;
}
