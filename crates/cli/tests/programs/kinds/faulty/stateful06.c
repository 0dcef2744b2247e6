// The halves of a state are taken over one by one while both change.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int low, high;

static void *step(void *unused) {
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&lock);
        low++;
        pthread_mutex_unlock(&lock);
        pthread_mutex_lock(&lock);
        high++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void *look(void *unused) {
    pthread_mutex_lock(&lock);
    int seen_low = low;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    int seen_high = high;
    pthread_mutex_unlock(&lock);
    if (seen_high > seen_low + 1) {
        fprintf(stderr, "%d and %d\n", seen_low, seen_high);
        exit(3);
    }
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, step, 0);
    pthread_create(&threads[1], 0, look, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
