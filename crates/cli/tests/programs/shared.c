// One thread waits while another stores to what it has a pointer to.
#include <pthread.h>
#include <stdio.h>

struct queue {
    volatile long count;
};

static volatile int moment;

__attribute__((noinline)) void store(struct queue *queue) { queue->count += 3; }

static void *work(void *queue) {
    while (moment != 1)
        ;
    for (int i = 0; i < 10; i++)
        store(queue);
    moment = 2;
    return NULL;
}

__attribute__((noinline)) long hold(struct queue *queue) {
    queue->count = 1;
    moment = 1;
    while (moment != 2)
        ;
    queue->count += 100;
    return queue->count;
}

int main(void) {
    static struct queue queue;
    pthread_t thread;
    pthread_create(&thread, NULL, work, &queue);
    long count = hold(&queue);
    pthread_join(thread, NULL);
    printf("count %ld\n", count);
    return 0;
}
