// Two consumers see that the queue is not empty before they lock it.
#include <assert.h>
#include <pthread.h>

enum { SIZE = 5 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int items[SIZE], head, tail, amount;

static void enqueue(int item) {
    pthread_mutex_lock(&lock);
    items[tail] = item;
    tail = (tail + 1) % SIZE;
    amount++;
    pthread_mutex_unlock(&lock);
}

static int dequeue(void) {
    pthread_mutex_lock(&lock);
    assert(amount > 0);
    int item = items[head];
    head = (head + 1) % SIZE;
    amount--;
    pthread_mutex_unlock(&lock);
    return item;
}

static void *produce(void *unused) {
    for (int i = 0; i < SIZE; i++)
        enqueue(i + 1);
    return unused;
}

static void *consume(void *unused) {
    while (amount > 0)
        dequeue();
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], 0, produce, 0);
    pthread_create(&threads[1], 0, consume, 0);
    pthread_create(&threads[2], 0, consume, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return 0;
}
