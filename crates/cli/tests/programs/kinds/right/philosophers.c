// The forks are taken in one order; and with a waiter who lets all but one sit down.
#include <pthread.h>
#include <semaphore.h>
enum { COUNT = 3 };
static pthread_mutex_t forks[COUNT], spoons[COUNT];
static sem_t seats;
static int meals;

static void *dine(void *argument) {
    long i = (long)argument, next = (i + 1) % COUNT;
    long first = i < next ? i : next, second = i < next ? next : i;
    pthread_mutex_lock(&forks[first]);
    pthread_mutex_lock(&forks[second]);
    __atomic_fetch_add(&meals, 1, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&forks[second]);
    pthread_mutex_unlock(&forks[first]);
    sem_wait(&seats);
    pthread_mutex_lock(&spoons[i]);
    pthread_mutex_lock(&spoons[next]);
    __atomic_fetch_add(&meals, 1, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&spoons[next]);
    pthread_mutex_unlock(&spoons[i]);
    sem_post(&seats);
    return 0;
}

int main(void) {
    pthread_t threads[COUNT];
    sem_init(&seats, 0, COUNT - 1);
    for (int i = 0; i < COUNT; i++) {
        pthread_mutex_init(&forks[i], 0);
        pthread_mutex_init(&spoons[i], 0);
    }
    for (long i = 0; i < COUNT; i++)
        pthread_create(&threads[i], 0, dine, (void *)i);
    for (int i = 0; i < COUNT; i++)
        pthread_join(threads[i], 0);
    return meals == 2 * COUNT ? 0 : 1;
}
