/* All that depends on the numbers of threads, or that the kernel keeps for
 * them: used all the time by several threads, and checked. */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define WORKERS 4
static int rounds = 400;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER, checking, recursive, robust;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
/* The kernel knows the owner of an inheriting one by its number, too. The last ones are in
 * memory that is shared, with a third argument. */
static pthread_mutex_t adaptive, inheriting, robust_inheriting, *shared, *shared_inheriting;
static pthread_rwlock_t readers = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spinning;
static long read_together;
static sem_t posted;
static int ends[2];
static FILE *lines;
static long turns, piped, counted, wrong;
static __thread pid_t own;
static __thread double sum;
static volatile sig_atomic_t signals;

static void check(int is_right, const char *what) {
    if (is_right) return;
    __sync_fetch_and_add(&wrong, 1);
    fprintf(stderr, "wrong: %s, thread %d, for the kernel %ld\n", what, own, syscall(SYS_gettid));
}

static void hold(pthread_mutex_t *mutex, const char *what) {
    check(pthread_mutex_lock(mutex) == 0, what);
    usleep(10);
    check(pthread_mutex_unlock(mutex) == 0, what);
}

static void hold_others(void) {
    hold(&adaptive, "adaptive mutex");
    hold(&inheriting, "mutex that inherits priorities");
    hold(&robust_inheriting, "robust mutex that inherits priorities");
    hold(shared, "robust mutex in shared memory");
    hold(shared_inheriting, "inheriting mutex in shared memory");
    check(pthread_rwlock_wrlock(&readers) == 0, "lock for writing");
    long before = read_together++;
    usleep(10);
    check(read_together == before + 1, "what only one writes");
    check(pthread_rwlock_unlock(&readers) == 0, "unlock after writing");
    check(pthread_rwlock_rdlock(&readers) == 0, "lock for reading");
    check(pthread_rwlock_unlock(&readers) == 0, "unlock after reading");
    check(pthread_spin_lock(&spinning) == 0, "spin lock");
    check(pthread_spin_unlock(&spinning) == 0, "spin unlock");
}

static void *work(void *argument) {
    long id = (long)argument;
    own = gettid();
    double expected = 0;
    for (int round = 0; round < rounds; round++) {
        pthread_mutex_lock(&turn);
        while (turns % WORKERS != id) pthread_cond_wait(&turned, &turn);
        turns++;
        fprintf(lines, "%ld %ld\n", turns, id);
        fflush(lines);
        pthread_cond_broadcast(&turned);
        pthread_mutex_unlock(&turn);
        check(pthread_mutex_lock(&checking) == 0, "lock of an error-checking mutex");
        usleep(20);
        check(pthread_mutex_unlock(&checking) == 0, "unlock of an error-checking mutex");
        check(pthread_mutex_lock(&recursive) == 0, "lock of a recursive mutex");
        check(pthread_mutex_lock(&recursive) == 0, "second lock of a recursive mutex");
        usleep(20);
        check(pthread_mutex_unlock(&recursive) == 0, "unlock of a recursive mutex");
        check(pthread_mutex_unlock(&recursive) == 0, "second unlock of a recursive mutex");
        check(pthread_mutex_lock(&robust) == 0, "lock of a robust mutex");
        usleep(10);
        check(pthread_mutex_unlock(&robust) == 0, "unlock of a robust mutex");
        if (round % 4 == 0) hold_others();
        check(own == gettid(), "thread number");
        expected += round * 0.5;
        sum += round * 0.5;
        if (round % 20 == 0) {
            check(pthread_kill(pthread_self(), 0) == 0, "pthread_kill");
            check(write(ends[1], "x", 1) == 1, "write to the pipe");
            sem_post(&posted);
        }
    }
    check(sum == expected, "thread-local sum");
    return argument;
}

static void *read_pipe(void *unused) {
    own = gettid();
    char byte;
    while (read(ends[0], &byte, 1) == 1 && byte != 'q') {
        usleep(500);
        piped++;
    }
    return unused;
}

static void *count(void *unused) {
    own = gettid();
    while (counted != WORKERS * (rounds / 20) + 1) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 5000000;
        if (until.tv_nsec >= 1000000000) {
            until.tv_sec++;
            until.tv_nsec -= 1000000000;
        }
        if (sem_timedwait(&posted, &until) == 0) counted++;
    }
    return unused;
}

static void handle(int signal) { signals += signal == SIGUSR1; }
void reached(void) { __asm__ volatile(""); }

int main(int argc, char **argv) {
    if (argc > 2) rounds = atoi(argv[2]);
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&checking, &kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&recursive, &kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_NORMAL);
    pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&robust, &kind);
    pthread_mutexattr_setprotocol(&kind, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&robust_inheriting, &kind);
    pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
    int sort = argc > 3 ? MAP_SHARED : MAP_PRIVATE;
    shared = mmap(0, 2 * sizeof *shared, PROT_READ | PROT_WRITE, sort | MAP_ANONYMOUS, -1, 0);
    shared_inheriting = shared + 1;
    pthread_mutex_init(shared_inheriting, &kind);
    pthread_mutexattr_setprotocol(&kind, PTHREAD_PRIO_NONE);
    pthread_mutex_init(shared, &kind);
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setprotocol(&kind, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&inheriting, &kind);
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ADAPTIVE_NP);
    pthread_mutex_init(&adaptive, &kind);
    pthread_spin_init(&spinning, PTHREAD_PROCESS_PRIVATE);
    lines = fopen(argv[1], "w+");
    check(lines && pipe(ends) == 0, "files");
    sem_init(&posted, 0, 0);
    signal(SIGUSR1, handle);
    own = gettid();
    pthread_t workers[WORKERS], reader, counter;
    for (long id = 0; id < WORKERS; id++) pthread_create(&workers[id], 0, work, (void *)id);
    pthread_create(&reader, 0, read_pipe, 0);
    pthread_create(&counter, 0, count, 0);
    for (int id = 0; id < WORKERS; id++) pthread_join(workers[id], 0);
    reached();
    check(write(ends[1], "q", 1) == 1, "last write to the pipe");
    sem_post(&posted);
    pthread_join(reader, 0);
    pthread_join(counter, 0);
    pthread_kill(pthread_self(), SIGUSR1);
    fflush(lines);
    rewind(lines);
    long found = 0, bad = 0, turn_of, id;
    while (fscanf(lines, "%ld %ld", &turn_of, &id) == 2) bad += turn_of != ++found;
    printf("turns %ld lines %ld bad %ld piped %ld counted %ld wrong %ld signals %d same %d\n", turns,
           found, bad, piped, counted, wrong, (int)signals, own == gettid() && own == getpid());
    return !(turns == WORKERS * rounds && found == turns && !bad && !wrong && signals == 1 &&
             counted == WORKERS * (rounds / 20) + 1);
}
