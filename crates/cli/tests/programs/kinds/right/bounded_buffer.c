#include <assert.h>
#include <pthread.h>
enum { SIZE = 2, ROUNDS = 3 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_room = PTHREAD_COND_INITIALIZER, has_item = PTHREAD_COND_INITIALIZER;
static int items[SIZE], count, in, out, sum;

static void *produce(void *unused) {
    for (int i = 1; i <= ROUNDS; i++) {
        pthread_mutex_lock(&lock);
        while (count == SIZE)
            pthread_cond_wait(&has_room, &lock);
        items[in] = i;
        in = (in + 1) % SIZE;
        count++;
        pthread_cond_signal(&has_item);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void *consume(void *unused) {
    for (int i = 1; i <= ROUNDS; i++) {
        pthread_mutex_lock(&lock);
        while (count == 0)
            pthread_cond_wait(&has_item, &lock);
        sum += items[out];
        out = (out + 1) % SIZE;
        count--;
        pthread_cond_signal(&has_room);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], 0, i % 2 ? produce : consume, 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
    assert(sum == 2 * ROUNDS * (ROUNDS + 1) / 2);
    return 0;
}
