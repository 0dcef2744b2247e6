// A queue of work whose owner takes from one end and thieves from the other, by locked
// instructions: for the last item the owner trusts an old head.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { SIZE = 8, ITEMS = 4 };
static atomic_int head, tail;
static int slots[SIZE];
static atomic_int taken[ITEMS];

static void push(int item) {
    int at = atomic_load(&tail);
    slots[at % SIZE] = item;
    atomic_exchange(&tail, at + 1);
}

static int steal(void) {
    int at = atomic_load(&head);
    if (at >= atomic_load(&tail))
        return -1;
    int item = slots[at % SIZE];
    return atomic_compare_exchange_strong(&head, &at, at + 1) ? item : -1;
}

static int pop(void) {
    int at = atomic_fetch_sub(&tail, 1) - 1;
    int first = atomic_load(&head);
    if (first < at)
        return slots[at % SIZE];
    if (first == at) {
        // The exchange belongs here: a thief may be taking the same one.
        int item = slots[at % SIZE];
        atomic_store(&head, at + 1);
        atomic_store(&tail, at + 1);
        return item;
    }
    atomic_store(&tail, first);
    return -1;
}

static void use(int item) {
    if (item >= 0)
        assert(atomic_fetch_add(&taken[item], 1) == 0);
}

static void *thief(void *unused) {
    for (int i = 0; i < 2; i++)
        use(steal());
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, thief, 0);
    for (int i = 0; i < ITEMS; i += 2) {
        push(i);
        push(i + 1);
        use(pop());
    }
    use(pop());
    use(pop());
    pthread_join(thread, 0);
    return 0;
}
