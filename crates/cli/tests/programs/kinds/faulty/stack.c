// The thread that pops has seen an item before it locks.
#include <assert.h>
#include <pthread.h>

enum { SIZE = 5 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int items[SIZE], top, has_item;

static void *push(void *unused) {
    for (int i = 0; i < SIZE; i++) {
        pthread_mutex_lock(&lock);
        items[top++] = i;
        has_item = 1;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void *pop(void *unused) {
    for (int i = 0; i < SIZE; i++) {
        pthread_mutex_lock(&lock);
        if (has_item) {
            assert(top > 0);
            top--;
        }
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, push, 0);
    pthread_create(&threads[1], 0, pop, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
