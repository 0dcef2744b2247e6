// The same queue with head, tail and a state in one word: the state says that the owner pops, and
// a thief does not compare it.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { SIZE = 8, ITEMS = 4 };
union word {
    struct {
        unsigned short head, tail;
        unsigned state;
    };
    unsigned long long all;
};
static _Atomic unsigned long long queue;
static int slots[SIZE];
static atomic_int taken[ITEMS];

static void push(int item) {
    union word then, now;
    then.all = atomic_load(&queue);
    slots[then.tail % SIZE] = item;
    do {
        now = then;
        now.tail++;
    } while (!atomic_compare_exchange_strong(&queue, &then.all, now.all));
}

static int steal(void) {
    union word then, now;
    then.all = atomic_load(&queue);
    if (then.state != 0 || then.head == then.tail)
        return -1;
    int item = slots[then.head % SIZE];
    now.all = atomic_load(&queue);
    if (now.head != then.head)
        return -1;
    then.all = now.all;
    now.head++;
    return atomic_compare_exchange_strong(&queue, &then.all, now.all) ? item : -1;
}

static int pop(void) {
    union word then, now;
    then.all = atomic_load(&queue);
    do {
        now = then;
        now.state = 1;
    } while (!atomic_compare_exchange_strong(&queue, &then.all, now.all));
    int item = -1;
    if (now.head != now.tail) {
        now.tail--;
        item = slots[now.tail % SIZE];
    }
    now.state = 0;
    atomic_store(&queue, now.all);
    return item;
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
