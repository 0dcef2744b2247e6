// Two threads that each wait for the other's message first, if the starter's came too late.
#include <pthread.h>
#include <unistd.h>

static int there[2], back[2];
static volatile int has_begun;

static void *one(void *unused) {
    char byte = 1;
    has_begun = 1;
    if (read(there[0], &byte, 1) == 1)
        (void)!write(back[1], &byte, 1);
    return unused;
}

static void *two(void *unused) {
    char byte = 1;
    if (has_begun)
        (void)!write(there[1], &byte, 1);
    (void)!read(back[0], &byte, 1);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    if (pipe(there) != 0 || pipe(back) != 0)
        return 1;
    pthread_create(&threads[0], 0, one, 0);
    pthread_create(&threads[1], 0, two, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
