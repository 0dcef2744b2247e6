// Two threads of a transform wait for each other by flags that are reset too early: one turns for
// ever.
#include <pthread.h>
#include <sched.h>

static volatile int arrived[2];

static void *work(void *argument) {
    long me = (long)argument;
    for (int i = 0; i < 2; i++) {
        arrived[me] = 1;
        while (!arrived[1 - me])
            sched_yield();
        arrived[me] = 0;
    }
    return 0;
}

int main(void) {
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, work, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
