// Two groups exclude each other: the first of a group takes the lock, the last gives it back, and
// one who waits for it keeps its own group from leaving.
#include <pthread.h>

static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER, room = PTHREAD_MUTEX_INITIALIZER;
static int members[2], visits;

static void *visit(void *argument) {
    long group = (long)argument;
    pthread_mutex_lock(&counting);
    if (++members[group] == 1)
        pthread_mutex_lock(&room);
    pthread_mutex_unlock(&counting);
    visits++;
    pthread_mutex_lock(&counting);
    if (--members[group] == 0)
        pthread_mutex_unlock(&room);
    pthread_mutex_unlock(&counting);
    return 0;
}

static void *pass(void *unused) {
    return unused;
}

int main(void) {
    pthread_t threads[4];
    pthread_create(&threads[0], 0, visit, (void *)0);
    pthread_create(&threads[1], 0, visit, (void *)1);
    pthread_create(&threads[2], 0, pass, 0);
    pthread_create(&threads[3], 0, pass, 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
    return 0;
}
