// A queue of work with plain reads and writes, and a lock for thieves: the owner takes the last
// item without it.
#include <assert.h>
#include <pthread.h>

enum { SIZE = 8, ITEMS = 4 };
static volatile int head, tail;
static int slots[SIZE], taken[ITEMS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void push(int item) {
    slots[tail % SIZE] = item;
    tail = tail + 1;
}

static int pop(void) {
    int at = tail - 1;
    tail = at;
    if (head <= at)
        return slots[at % SIZE];
    pthread_mutex_lock(&lock);
    tail = at + 1;
    int item = -1;
    if (head <= at) {
        tail = at;
        item = slots[at % SIZE];
    }
    pthread_mutex_unlock(&lock);
    return item;
}

static int steal(void) {
    int item = -1;
    pthread_mutex_lock(&lock);
    int at = head;
    if (at < tail) {
        head = at + 1;
        item = slots[at % SIZE];
    }
    pthread_mutex_unlock(&lock);
    return item;
}

static void use(int item) {
    if (item >= 0)
        assert(__atomic_fetch_add(&taken[item], 1, __ATOMIC_SEQ_CST) == 0);
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
    pthread_join(thread, 0);
    return 0;
}
