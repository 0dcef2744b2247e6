// A table of a script engine is looked up in two steps, and another thread empties it between.
#include <pthread.h>
#include <stdlib.h>

struct property {
    int value;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct property *volatile table[2];
static int sum;

static void *look_up(void *unused) {
    for (int i = 0; i < 2; i++) {
        if (table[i])
            sum += table[i]->value;
    }
    return unused;
}

static void *sweep(void *unused) {
    pthread_mutex_lock(&lock);
    for (int i = 0; i < 2; i++) {
        struct property *it = table[i];
        table[i] = 0;
        free(it);
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        table[i] = malloc(sizeof(struct property));
        table[i]->value = i;
    }
    pthread_create(&threads[0], 0, look_up, 0);
    pthread_create(&threads[1], 0, sweep, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
