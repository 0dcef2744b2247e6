// The second phase takes the locks in the other order, and a thread may be late in the first.
#include <pthread.h>

static pthread_mutex_t x = PTHREAD_MUTEX_INITIALIZER, y = PTHREAD_MUTEX_INITIALIZER;
static int phase;

static void *work(void *unused) {
    int begun = phase;
    pthread_mutex_lock(begun == 0 ? &x : &y);
    pthread_mutex_lock(begun == 0 ? &y : &x);
    phase = 1;
    pthread_mutex_unlock(&x);
    pthread_mutex_unlock(&y);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return 0;
}
