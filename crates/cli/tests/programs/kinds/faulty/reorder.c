// Two words that belong together are written one after the other, by many threads; one looks.
#include <assert.h>
#include <pthread.h>

#ifndef COUNT
#define COUNT 3
#endif
static volatile int a, b;

static void *set(void *unused) {
    a = 1;
    b = -1;
    return unused;
}

static void *check(void *unused) {
    int first = a, second = b;
    assert((first == 0 && second == 0) || (first == 1 && second == -1));
    return unused;
}

int main(void) {
    pthread_t threads[COUNT + 1];
    for (int i = 0; i < COUNT; i++)
        pthread_create(&threads[i], 0, set, 0);
    pthread_create(&threads[COUNT], 0, check, 0);
    for (int i = 0; i <= COUNT; i++)
        pthread_join(threads[i], 0);
    return 0;
}
