// Two kinds of waiters share one condition, and one of them is woken: perhaps the wrong one.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int term, has_term, sum;

static void *produce(void *first) {
    for (int i = *(int *)first; i <= 4; i += 2) {
        pthread_mutex_lock(&lock);
        while (has_term)
            pthread_cond_wait(&changed, &lock);
        term = i;
        has_term = 1;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

static void *add(void *unused) {
    for (int i = 0; i < 4; i++) {
        pthread_mutex_lock(&lock);
        while (!has_term)
            pthread_cond_wait(&changed, &lock);
        sum += term;
        has_term = 0;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void) {
    int odd = 1, even = 2;
    pthread_t threads[3];
    pthread_create(&threads[0], 0, produce, &odd);
    pthread_create(&threads[1], 0, produce, &even);
    pthread_create(&threads[2], 0, add, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    assert(sum == 10);
    return 0;
}
