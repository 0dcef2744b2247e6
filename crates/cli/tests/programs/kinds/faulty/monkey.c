// Requests of a script engine keep the collector out: who begins one looks whether it runs, and
// counts itself after that; a waiting collector and a waiting request may miss each other.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t requests_done = PTHREAD_COND_INITIALIZER;
static pthread_cond_t collection_done = PTHREAD_COND_INITIALIZER;
static int requests, is_collecting;

static void begin_request(void) {
    pthread_mutex_lock(&lock);
    requests++;
    pthread_mutex_unlock(&lock);
}

static void end_request(void) {
    pthread_mutex_lock(&lock);
    if (--requests == 0)
        pthread_cond_signal(&requests_done);
    pthread_mutex_unlock(&lock);
}

static void collect(void) {
    pthread_mutex_lock(&lock);
    while (is_collecting)
        pthread_cond_wait(&collection_done, &lock);
    is_collecting = 1;
    // One's own request does not count, but that of another one that wants to collect, too, does.
    while (requests > 1)
        pthread_cond_wait(&requests_done, &lock);
    is_collecting = 0;
    pthread_cond_broadcast(&collection_done);
    pthread_mutex_unlock(&lock);
}

static void *run(void *unused) {
    begin_request();
    collect();
    end_request();
    return unused;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, run, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
