// A thread waits for a flag in a loop without a call; another one sets it only if it came first.
#include <pthread.h>

static volatile int ready, has_begun;

static void *wait_for_it(void *unused) {
    has_begun = 1;
    while (!ready)
        ;
    return unused;
}

static void *set(void *unused) {
    if (!has_begun)
        ready = 1;
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[1], 0, set, 0);
    pthread_create(&threads[0], 0, wait_for_it, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
