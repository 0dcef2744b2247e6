#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static int *shared, destroyed;
static __thread int mine;

static void destroy(void *value) {
    free(value);
    __atomic_fetch_add(&destroyed, 1, __ATOMIC_SEQ_CST);
}

static void make(void) {
    shared = malloc(sizeof *shared);
    *shared = 7;
    pthread_key_create(&key, destroy);
}

static void *work(void *unused) {
    pthread_once(&once, make);
    assert(*shared == 7 && mine == 0);
    mine++;
    pthread_setspecific(key, malloc(4));
    assert(mine == 1);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    assert(destroyed == 3);
    return 0;
}
