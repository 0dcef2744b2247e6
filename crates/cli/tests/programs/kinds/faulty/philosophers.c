// Philosophers who all take the left fork first.
#include <assert.h>
#include <pthread.h>

#ifndef COUNT
#define COUNT 5
#endif
static pthread_mutex_t forks[COUNT];
static int meals;

static void *dine(void *argument) {
    long i = (long)argument;
    pthread_mutex_lock(&forks[i]);
    pthread_mutex_lock(&forks[(i + 1) % COUNT]);
    __atomic_fetch_add(&meals, 1, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&forks[(i + 1) % COUNT]);
    pthread_mutex_unlock(&forks[i]);
    return 0;
}

int main(void) {
    pthread_t threads[COUNT];
    for (int i = 0; i < COUNT; i++)
        pthread_mutex_init(&forks[i], 0);
    for (long i = 0; i < COUNT; i++)
        pthread_create(&threads[i], 0, dine, (void *)i);
    for (int i = 0; i < COUNT; i++)
        pthread_join(threads[i], 0);
    assert(meals == COUNT);
    return 0;
}
