// Each thread changes two values, each under its own lock: orders of the halves give other sums.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t one_lock = PTHREAD_MUTEX_INITIALIZER, two_lock = PTHREAD_MUTEX_INITIALIZER;
static int one = 10, two = 10;

static void *add(void *unused) {
    pthread_mutex_lock(&one_lock);
    one++;
    pthread_mutex_unlock(&one_lock);
    pthread_mutex_lock(&two_lock);
    two++;
    pthread_mutex_unlock(&two_lock);
    return unused;
}

static void *double_both(void *unused) {
    pthread_mutex_lock(&one_lock);
    one *= 2;
    pthread_mutex_unlock(&one_lock);
    pthread_mutex_lock(&two_lock);
    two *= 2;
    pthread_mutex_unlock(&two_lock);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, add, 0);
    pthread_create(&threads[1], 0, double_both, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    assert(one == two);
    return 0;
}
