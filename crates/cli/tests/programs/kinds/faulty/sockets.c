// Two threads that wait for each other's bytes, if the first one speaks too early.
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

static int ends[2];
static volatile int is_heard;

static void *one(void *unused) {
    char byte = 1;
    if (is_heard)
        (void)!write(ends[0], &byte, 1);
    (void)!read(ends[0], &byte, 1);
    return unused;
}

static void *two(void *unused) {
    char byte = 1;
    is_heard = 1;
    (void)!read(ends[1], &byte, 1);
    (void)!write(ends[1], &byte, 1);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return 1;
    pthread_create(&threads[0], 0, two, 0);
    pthread_create(&threads[1], 0, one, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
