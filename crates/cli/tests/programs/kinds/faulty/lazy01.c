// Three threads with one lock: the last must not come last.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock;
static int data;

static void *add_one(void *unused) {
    pthread_mutex_lock(&lock);
    data++;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *add_two(void *unused) {
    pthread_mutex_lock(&lock);
    data += 2;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *look(void *unused) {
    pthread_mutex_lock(&lock);
    assert(data != 2);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_mutex_init(&lock, 0);
    pthread_create(&threads[0], 0, add_one, 0);
    pthread_create(&threads[1], 0, add_two, 0);
    pthread_create(&threads[2], 0, look, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return 0;
}
