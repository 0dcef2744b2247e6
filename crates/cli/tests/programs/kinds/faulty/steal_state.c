// A queue of work with a state that says who is at it: the owner sets it without looking whether a
// thief is inside.
#include <assert.h>
#include <pthread.h>
#include <sched.h>

enum { SIZE = 8, ITEMS = 6, IDLE = 0, OWNER = 1, THIEF = 2 };
static volatile int head, tail, state;
static int slots[SIZE], taken[ITEMS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void push(int item) {
    slots[tail % SIZE] = item;
    tail++;
}

static int pop(void) {
    int item = -1;
    state = OWNER;
    if (head < tail) {
        tail--;
        item = slots[tail % SIZE];
    }
    state = IDLE;
    return item;
}

static int steal(void) {
    int item = -1;
    pthread_mutex_lock(&lock);
    if (state == IDLE) {
        state = THIEF;
        if (head < tail) {
            item = slots[head % SIZE];
            head++;
        }
        state = IDLE;
    }
    pthread_mutex_unlock(&lock);
    return item;
}

static void use(int item) {
    if (item >= 0)
        assert(__atomic_fetch_add(&taken[item], 1, __ATOMIC_SEQ_CST) == 0);
}

static void *thief(void *unused) {
    for (int i = 0; i < 3; i++)
        use(steal());
    return unused;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, thief, 0);
    for (int i = 0; i < ITEMS; i += 2) {
        push(i);
        push(i + 1);
        use(pop());
    }
    while (head < tail)
        use(pop());
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
