// All guard the value by one lock, but one thread takes another.
#include <assert.h>
#include <pthread.h>

#ifndef COUNT
#define COUNT 1
#endif
static pthread_mutex_t right = PTHREAD_MUTEX_INITIALIZER, wrong = PTHREAD_MUTEX_INITIALIZER;
static volatile int value;

static void *guarded(void *unused) {
    pthread_mutex_lock(&right);
    int before = value;
    value++;
    assert(value == before + 1);
    pthread_mutex_unlock(&right);
    return unused;
}

static void *unguarded(void *unused) {
    pthread_mutex_lock(&wrong);
    value++;
    pthread_mutex_unlock(&wrong);
    return unused;
}

int main(void) {
    pthread_t threads[COUNT + 1];
    for (int i = 0; i < COUNT; i++)
        pthread_create(&threads[i], 0, guarded, 0);
    pthread_create(&threads[COUNT], 0, unguarded, 0);
    for (int i = 0; i <= COUNT; i++)
        pthread_join(threads[i], 0);
    return 0;
}
