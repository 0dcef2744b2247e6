// Producers and consumers of a bounded buffer wait at one condition, and one of them is woken.
#include <pthread.h>

enum { SIZE = 1, ROUNDS = 2 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int buffer[SIZE], count, put_at, take_at;

static void put(int value) {
    pthread_mutex_lock(&lock);
    while (count == SIZE)
        pthread_cond_wait(&changed, &lock);
    buffer[put_at] = value;
    put_at = (put_at + 1) % SIZE;
    count++;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}

static int take(void) {
    pthread_mutex_lock(&lock);
    while (count == 0)
        pthread_cond_wait(&changed, &lock);
    int value = buffer[take_at];
    take_at = (take_at + 1) % SIZE;
    count--;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return value;
}

static void *produce(void *unused) {
    for (int i = 0; i < ROUNDS; i++)
        put(i);
    return unused;
}

static void *consume(void *unused) {
    for (int i = 0; i < ROUNDS; i++)
        take();
    return unused;
}

int main(void) {
    pthread_t threads[4];
    pthread_create(&threads[0], 0, produce, 0);
    pthread_create(&threads[1], 0, produce, 0);
    pthread_create(&threads[2], 0, consume, 0);
    pthread_create(&threads[3], 0, consume, 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
    return 0;
}
