// A request looks whether the driver is being stopped before it counts itself as pending.
#include <assert.h>
#include <pthread.h>

static int pending = 1, is_stopping, is_stopped, has_stop_event;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int begin(void) {
    if (is_stopping)
        return 0;
    pthread_mutex_lock(&lock);
    pending++;
    pthread_mutex_unlock(&lock);
    return 1;
}

static void end(void) {
    pthread_mutex_lock(&lock);
    int left = --pending;
    pthread_mutex_unlock(&lock);
    if (left == 0)
        has_stop_event = 1;
}

static void *request(void *unused) {
    if (begin())
        assert(!is_stopped);
    end();
    return unused;
}

static void *stop(void *unused) {
    is_stopping = 1;
    end();
    if (has_stop_event)
        is_stopped = 1;
    return unused;
}

int main(void) {
    pthread_t stopper;
    pthread_create(&stopper, 0, stop, 0);
    request(0);
    pthread_join(stopper, 0);
    return 0;
}
