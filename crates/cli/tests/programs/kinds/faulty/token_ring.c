// Each station derives its value from the one before it, whichever order they come in.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int values[3] = {1, 2, 3}, is_set[3];

static void *pass(void *argument) {
    long i = (long)argument;
    pthread_mutex_lock(&lock);
    values[i] = (values[(i + 2) % 3] + 1) % 4;
    is_set[i] = 1;
    pthread_mutex_unlock(&lock);
    return 0;
}

static void *check(void *unused) {
    pthread_mutex_lock(&lock);
    if (is_set[0] && is_set[1] && is_set[2])
        assert((values[0] + 1) % 4 == values[1] && (values[1] + 1) % 4 == values[2]);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t threads[4];
    for (long i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, pass, (void *)i);
    pthread_create(&threads[3], 0, check, 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
    return 0;
}
