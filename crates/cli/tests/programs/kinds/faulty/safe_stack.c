// A stack of free cells by index, without a lock; three threads take a cell each, and put it back,
// twice: two may have the same one, if three change places often enough.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { CELLS = 3 };
static struct {
    int value;
    atomic_int next;
} cells[CELLS];
static atomic_int head, count;

static int pop(void) {
    while (atomic_load(&count) > 1) {
        int first = atomic_load(&head);
        int next = atomic_exchange(&cells[first].next, -1);
        if (next >= 0) {
            int expected = first;
            if (atomic_compare_exchange_strong(&head, &expected, next)) {
                atomic_fetch_sub(&count, 1);
                return first;
            }
            atomic_exchange(&cells[first].next, next);
        }
    }
    return -1;
}

static void push(int index) {
    int first = atomic_load(&head);
    do {
        atomic_store(&cells[index].next, first);
    } while (!atomic_compare_exchange_strong(&head, &first, index));
    atomic_fetch_add(&count, 1);
}

static void *work(void *argument) {
    int me = (int)(long)argument;
    for (int i = 0; i < 2; i++) {
        int cell;
        do
            cell = pop();
        while (cell < 0);
        cells[cell].value = me;
        assert(cells[cell].value == me);
        push(cell);
    }
    return 0;
}

int main(void) {
    pthread_t threads[3];
    atomic_store(&count, CELLS);
    for (int i = 0; i < CELLS; i++)
        atomic_store(&cells[i].next, i + 1 < CELLS ? i + 1 : -1);
    for (long i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, work, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return 0;
}
