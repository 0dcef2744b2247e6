// Optimised code adds by one instruction, which is two accesses for other processors.
#include <assert.h>
#include <pthread.h>

static int count;

static void *add(void *unused) {
    count += 1;
    return unused;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, add, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    assert(count == 2);
    return 0;
}
