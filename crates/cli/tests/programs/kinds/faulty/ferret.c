// A pipeline of three stages: the number of items on their way is counted when they leave the
// queue, so that the last stage may believe that it is through.
#include <assert.h>
#include <pthread.h>

enum { ITEMS = 3, SIZE = 4 };
struct queue {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    int items[SIZE], head, tail, is_closed;
};
static struct queue loaded = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, {0}, 0, 0, 0};
static struct queue ranked = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, {0}, 0, 0, 0};
static volatile int is_loaded, entered, ranked_count;
static int seen;

static void put(struct queue *queue, int item) {
    pthread_mutex_lock(&queue->lock);
    queue->items[queue->tail++ % SIZE] = item;
    pthread_cond_signal(&queue->filled);
    pthread_mutex_unlock(&queue->lock);
}

static void close_queue(struct queue *queue) {
    pthread_mutex_lock(&queue->lock);
    queue->is_closed = 1;
    pthread_cond_broadcast(&queue->filled);
    pthread_mutex_unlock(&queue->lock);
}

static int get(struct queue *queue) {
    pthread_mutex_lock(&queue->lock);
    while (queue->head == queue->tail && !queue->is_closed)
        pthread_cond_wait(&queue->filled, &queue->lock);
    int item = queue->head == queue->tail ? -1 : queue->items[queue->head++ % SIZE];
    pthread_mutex_unlock(&queue->lock);
    return item;
}

static void *load(void *unused) {
    for (int i = 0; i < ITEMS; i++)
        put(&loaded, i);
    is_loaded = 1;
    close_queue(&loaded);
    return unused;
}

static void *rank(void *unused) {
    for (int item; (item = get(&loaded)) >= 0;) {
        entered++;
        put(&ranked, item);
        ranked_count++;
    }
    return unused;
}

static void *show(void *unused) {
    while (!is_loaded || ranked_count < entered || seen < ranked_count)
        if (get(&ranked) >= 0)
            seen++;
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], 0, load, 0);
    pthread_create(&threads[1], 0, rank, 0);
    pthread_create(&threads[2], 0, show, 0);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    close_queue(&ranked);
    pthread_join(threads[2], 0);
    assert(seen == ITEMS);
    return 0;
}
