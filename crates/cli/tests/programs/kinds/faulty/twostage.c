// The second value follows the first one in another critical section; readers may come between.
#include <assert.h>
#include <pthread.h>

#ifndef COUNT
#define COUNT 1
#endif
static pthread_mutex_t first_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t second_lock = PTHREAD_MUTEX_INITIALIZER;
static int first, second;

static void *write_both(void *unused) {
    pthread_mutex_lock(&first_lock);
    first = 1;
    pthread_mutex_unlock(&first_lock);
    pthread_mutex_lock(&second_lock);
    second = first + 1;
    pthread_mutex_unlock(&second_lock);
    return unused;
}

static void *read_both(void *unused) {
    pthread_mutex_lock(&first_lock);
    int seen = first;
    pthread_mutex_unlock(&first_lock);
    if (seen == 0)
        return unused;
    pthread_mutex_lock(&second_lock);
    int other = second;
    pthread_mutex_unlock(&second_lock);
    assert(other == seen + 1);
    return unused;
}

int main(void) {
    pthread_t threads[COUNT + 1];
    for (int i = 0; i < COUNT; i++)
        pthread_create(&threads[i], 0, write_both, 0);
    pthread_create(&threads[COUNT], 0, read_both, 0);
    for (int i = 0; i <= COUNT; i++)
        pthread_join(threads[i], 0);
    return 0;
}
