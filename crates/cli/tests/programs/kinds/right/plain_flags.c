// Peterson's lock, and a wait for a plain flag.
#include <assert.h>
#include <pthread.h>
static volatile int wants[2], turn, inside, done[2];

static void *work(void *argument) {
    long me = (long)argument;
    for (int i = 0; i < 2; i++) {
        wants[me] = 1;
        turn = (int)(1 - me);
        __sync_synchronize();
        while (wants[1 - me] && turn == 1 - me)
            ;
        assert(inside == 0);
        inside = 1;
        inside = 0;
        wants[me] = 0;
    }
    done[me] = 1;
    return 0;
}

int main(void) {
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, work, (void *)i);
    while (!done[0] || !done[1])
        ;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
