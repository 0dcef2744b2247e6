// A default mutex is given back by another thread than the one that took it: the next turn of a
// relay. The first one then takes other locks.
#include <pthread.h>
#include <semaphore.h>
static pthread_mutex_t baton = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static sem_t is_handed;
static int turns;

static void *first(void *unused) {
    pthread_mutex_lock(&baton);
    turns++;
    sem_post(&is_handed);
    pthread_mutex_lock(&other);
    turns += 10;
    pthread_mutex_unlock(&other);
    return unused;
}

static void *second(void *unused) {
    sem_wait(&is_handed);
    pthread_mutex_unlock(&baton);
    pthread_mutex_lock(&other);
    pthread_mutex_lock(&baton);
    turns++;
    pthread_mutex_unlock(&baton);
    pthread_mutex_unlock(&other);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    sem_init(&is_handed, 0, 0);
    pthread_create(&threads[0], 0, first, 0);
    pthread_create(&threads[1], 0, second, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
