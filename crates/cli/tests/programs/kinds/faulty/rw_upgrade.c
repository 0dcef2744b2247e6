// Two readers want to become writers, and keep what they have.
#include <pthread.h>

static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t journal = PTHREAD_MUTEX_INITIALIZER;
static int entries;

static void *read_then_note(void *unused) {
    pthread_rwlock_rdlock(&table);
    int seen = entries;
    pthread_mutex_lock(&journal);
    entries = seen + 1;
    pthread_mutex_unlock(&journal);
    pthread_rwlock_unlock(&table);
    return unused;
}

static void *note_then_write(void *unused) {
    pthread_mutex_lock(&journal);
    pthread_rwlock_wrlock(&table);
    entries++;
    pthread_rwlock_unlock(&table);
    pthread_mutex_unlock(&journal);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, read_then_note, 0);
    pthread_create(&threads[1], 0, note_then_write, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
