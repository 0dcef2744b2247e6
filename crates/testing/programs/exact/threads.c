/* Four threads pass 2000 times each. */
#include <pthread.h>
#include <stdio.h>

static long passes;
static pthread_barrier_t start;

__attribute__((noinline)) void point(long n)
{
    __atomic_add_fetch(&passes, n, __ATOMIC_SEQ_CST);
}

static void *run(void *unused)
{
    pthread_barrier_wait(&start);
    for (int i = 0; i < 2000; i++)
        point(1);
    return unused;
}

int main(void)
{
    pthread_t threads[4];

    pthread_barrier_init(&start, NULL, 4);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, run, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    printf("program: %ld passes\n", passes);
    return 0;
}
