#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
static sem_t full, empty, mutex;
static int items[2], in, out, sum;

static void *produce(void *unused) {
    for (int i = 1; i <= 3; i++) {
        sem_wait(&empty);
        sem_wait(&mutex);
        items[in] = i;
        in = !in;
        sem_post(&mutex);
        sem_post(&full);
    }
    return unused;
}

static void *consume(void *unused) {
    for (int i = 1; i <= 3; i++) {
        sem_wait(&full);
        while (sem_trywait(&mutex) != 0)
            ;
        sum += items[out];
        out = !out;
        sem_post(&mutex);
        sem_post(&empty);
    }
    return unused;
}

int main(void) {
    pthread_t threads[4];
    sem_init(&full, 0, 0);
    sem_init(&empty, 0, 2);
    sem_init(&mutex, 0, 1);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], 0, i % 2 ? produce : consume, 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
    assert(sum == 12);
    return 0;
}
