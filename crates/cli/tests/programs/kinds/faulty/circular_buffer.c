// The sender publishes the index before the contents.
#include <assert.h>
#include <pthread.h>

enum { SIZE = 4, COUNT = 6 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char buffer[SIZE];
static volatile unsigned first, next;

static int insert(char value) {
    pthread_mutex_lock(&lock);
    unsigned at = next;
    int is_full = at - first == SIZE;
    if (!is_full)
        next = at + 1;
    pthread_mutex_unlock(&lock);
    if (is_full)
        return 0;
    buffer[at % SIZE] = value;
    return 1;
}

static int take(void) {
    pthread_mutex_lock(&lock);
    int value = first == next ? -1 : buffer[first++ % SIZE];
    pthread_mutex_unlock(&lock);
    return value;
}

static void *send(void *unused) {
    for (int i = 1; i <= COUNT; i++)
        if (!insert((char)i))
            break;
    return unused;
}

static void *receive(void *unused) {
    for (int i = 1; i <= COUNT; i++) {
        int value = take();
        if (value == -1)
            break;
        assert(value == i);
    }
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, send, 0);
    pthread_create(&threads[1], 0, receive, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
