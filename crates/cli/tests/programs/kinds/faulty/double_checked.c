// The pointer is published before what it points to is complete.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct configuration {
    int size;
    char *name;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct configuration *volatile shared;

static struct configuration *instance(void) {
    if (!shared) {
        pthread_mutex_lock(&lock);
        if (!shared) {
            shared = calloc(1, sizeof *shared);
            shared->size = 4;
            shared->name = "name";
        }
        pthread_mutex_unlock(&lock);
    }
    return shared;
}

static void *use(void *unused) {
    struct configuration *it = instance();
    assert(it->name[it->size - 1] == 'e');
    return unused;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, use, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
