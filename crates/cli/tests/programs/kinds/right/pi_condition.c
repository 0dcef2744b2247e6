// Conditions with mutexes that inherit priorities: their waiters wait again for a lock that the
// kernel hands over.
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t lock;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn, waited;

static void *wait_for_turn(void *argument) {
    long me = (long)argument;
    pthread_mutex_lock(&lock);
    while (turn < me) {
        waited++;
        pthread_cond_wait(&changed, &lock);
    }
    turn++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t threads[3];
    pthread_mutexattr_t how;
    pthread_mutexattr_init(&how);
    pthread_mutexattr_setprotocol(&how, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&lock, &how);
    for (long i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, wait_for_turn, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    assert(turn == 3);
    return 0;
}
