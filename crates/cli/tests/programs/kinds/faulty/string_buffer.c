// One buffer is appended to another: its length and its contents are read in two steps.
#include <assert.h>
#include <pthread.h>
#include <string.h>

struct buffer {
    pthread_mutex_t lock;
    int length;
    char text[16];
};
static struct buffer from = {PTHREAD_MUTEX_INITIALIZER, 5, "words"};
static struct buffer to = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int length_of(struct buffer *it) {
    pthread_mutex_lock(&it->lock);
    int length = it->length;
    pthread_mutex_unlock(&it->lock);
    return length;
}

static void copy(struct buffer *it, int length, char *into) {
    pthread_mutex_lock(&it->lock);
    assert(length <= it->length);
    memcpy(into, it->text, (size_t)length);
    pthread_mutex_unlock(&it->lock);
}

static void *append(void *unused) {
    pthread_mutex_lock(&to.lock);
    int length = length_of(&from);
    copy(&from, length, to.text + to.length);
    to.length += length;
    pthread_mutex_unlock(&to.lock);
    return unused;
}

static void *erase(void *unused) {
    pthread_mutex_lock(&from.lock);
    from.length = 0;
    pthread_mutex_unlock(&from.lock);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, append, 0);
    pthread_create(&threads[1], 0, erase, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
