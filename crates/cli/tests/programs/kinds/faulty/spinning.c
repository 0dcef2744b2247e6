// A lock by a flag that is looked at and set in two steps, and given back to nobody.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int turn, waiting[2];

static void *work(void *argument) {
    int me = (int)(long)argument;
    atomic_store(&waiting[me], 1);
    // Each lets the other one go first.
    while (atomic_load(&waiting[1 - me]))
        ;
    atomic_store(&waiting[me], 0);
    return 0;
}

int main(void) {
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, work, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return turn;
}
