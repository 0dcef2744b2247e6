/* Two threads that take turns: the first may begin when the second waits. */
#include <pthread.h>
#include <stdio.h>

static pthread_barrier_t barrier;
static int totals[2];

static void add(int worker, int n)
{
    totals[worker] += n;
}

static void *work(void *argument)
{
    int worker = *(int *)argument;
    for (int i = 1; i <= 3; i++) {
        pthread_barrier_wait(&barrier);
        add(worker, 10 * worker + i);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    int workers[2] = { 0, 1 };
    pthread_barrier_init(&barrier, NULL, 2);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, &workers[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%d %d\n", totals[0], totals[1]);
    return 0;
}
