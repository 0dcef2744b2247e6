#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int left = 3;

static void *work(void *argument) {
    free(argument);
    pthread_mutex_lock(&lock);
    left--;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return 0;
}

static void *lasting(void *unused) {
    for (;;) {
        pthread_mutex_lock(&lock);
        while (left != -1)
            pthread_cond_wait(&changed, &lock);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_attr_t how;
    pthread_attr_init(&how);
    pthread_attr_setdetachstate(&how, PTHREAD_CREATE_DETACHED);
    for (int i = 0; i < 3; i++)
        pthread_create(&thread, &how, work, malloc(16));
    pthread_mutex_lock(&lock);
    while (left != 0)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    // A thread that waits for ever is no deadlock: the program ends.
    pthread_create(&thread, &how, lasting, 0);
    return 0;
}
