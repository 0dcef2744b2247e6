// The queue is freed when the producer is through, and a consumer may still be at it.
#include <pthread.h>
#include <stdlib.h>

enum { BLOCKS = 3 };
struct queue {
    pthread_mutex_t *lock;
    pthread_cond_t filled;
    int count, is_done;
};
static struct queue *queue;

static void *consume(void *unused) {
    for (;;) {
        pthread_mutex_lock(queue->lock);
        while (queue->count == 0 && !queue->is_done)
            pthread_cond_wait(&queue->filled, queue->lock);
        if (queue->count == 0) {
            pthread_mutex_unlock(queue->lock);
            return unused;
        }
        queue->count--;
        pthread_mutex_unlock(queue->lock);
    }
}

int main(void) {
    pthread_t threads[2];
    queue = calloc(1, sizeof *queue);
    queue->lock = malloc(sizeof *queue->lock);
    pthread_mutex_init(queue->lock, 0);
    pthread_cond_init(&queue->filled, 0);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, consume, 0);
    for (int i = 0; i < BLOCKS; i++) {
        pthread_mutex_lock(queue->lock);
        queue->count++;
        pthread_cond_signal(&queue->filled);
        pthread_mutex_unlock(queue->lock);
    }
    pthread_mutex_lock(queue->lock);
    queue->is_done = 1;
    pthread_cond_broadcast(&queue->filled);
    pthread_mutex_unlock(queue->lock);
    // The threads are joined too late.
    pthread_mutex_destroy(queue->lock);
    free(queue->lock);
    queue->lock = 0;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
