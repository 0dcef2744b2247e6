// A lock-free stack whose cells are used once, and a lock by comparing and exchanging.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sched.h>
enum { EACH = 3 };
static struct cell {
    struct cell *next;
    int value;
} cells[2 * EACH];
static _Atomic(struct cell *) head;
static atomic_int held, sum;
static int plain;

static void *work(void *argument) {
    struct cell *mine = argument;
    for (int i = 0; i < EACH; i++) {
        mine[i].value = i + 1;
        mine[i].next = atomic_load(&head);
        while (!atomic_compare_exchange_weak(&head, &mine[i].next, &mine[i]))
            ;
    }
    int expected = 0;
    while (!atomic_compare_exchange_strong(&held, &expected, 1)) {
        expected = 0;
        sched_yield();
    }
    plain++;
    atomic_store(&held, 0);
    return 0;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, work, &cells[i * EACH]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    for (struct cell *cell = head; cell; cell = cell->next)
        sum += cell->value;
    assert(sum == EACH * (EACH + 1) && plain == 2);
    return 0;
}
