// Two resources, each with a semaphore, in opposite orders; a third thread goes on.
#include <pthread.h>
#include <semaphore.h>

static sem_t tape, printer;

static void *one(void *unused) {
    sem_wait(&tape);
    sem_wait(&printer);
    sem_post(&printer);
    sem_post(&tape);
    return unused;
}

static void *two(void *unused) {
    sem_wait(&printer);
    sem_wait(&tape);
    sem_post(&tape);
    sem_post(&printer);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    sem_init(&tape, 0, 1);
    sem_init(&printer, 0, 1);
    pthread_create(&threads[0], 0, one, 0);
    pthread_create(&threads[1], 0, two, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
