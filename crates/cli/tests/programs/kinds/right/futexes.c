// Futex calls as a library of one's own makes them: wait, wake, requeue, wait for several.
#define _GNU_SOURCE
#include <assert.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static atomic_int word, other, several[2];

static void lock(atomic_int *at) {
    int expected = 0;
    if (atomic_compare_exchange_strong(at, &expected, 1))
        return;
    while (atomic_exchange(at, 2) != 0)
        syscall(SYS_futex, at, FUTEX_WAIT_PRIVATE, 2, 0, 0, 0);
}

static void unlock(atomic_int *at) {
    if (atomic_exchange(at, 0) == 2)
        syscall(SYS_futex, at, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}

static int count;

static void *work(void *unused) {
    for (int i = 0; i < 2; i++) {
        lock(&word);
        count++;
        unlock(&word);
    }
    while (atomic_load(&other) == 0)
        syscall(SYS_futex, &other, FUTEX_WAIT_BITSET_PRIVATE, 0, 0, 0, FUTEX_BITSET_MATCH_ANY);
    return unused;
}

static void *wait_for_one(void *unused) {
    struct futex_waitv waits[2] = {
        {0, (uintptr_t)&several[0], FUTEX_32 | FUTEX_PRIVATE_FLAG, 0},
        {0, (uintptr_t)&several[1], FUTEX_32 | FUTEX_PRIVATE_FLAG, 0},
    };
    while (atomic_load(&several[0]) == 0 && atomic_load(&several[1]) == 0)
        syscall(SYS_futex_waitv, waits, 2, 0, 0, CLOCK_MONOTONIC);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], 0, work, 0);
    pthread_create(&threads[1], 0, work, 0);
    pthread_create(&threads[2], 0, wait_for_one, 0);
    atomic_store(&other, 1);
    syscall(SYS_futex, &other, FUTEX_WAKE_BITSET_PRIVATE, 9, 0, 0, FUTEX_BITSET_MATCH_ANY);
    atomic_store(&several[1], 1);
    syscall(SYS_futex, &several[1], FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    assert(count == 4);
    return 0;
}
