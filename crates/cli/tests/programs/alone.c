/* One thread counts while the other one steps; both say how far they came. */
#include <pthread.h>
#include <stdio.h>

static volatile long others, own;
static volatile int is_over;

static void *count(void *unused)
{
    while (!is_over)
        others++;
    return unused;
}

static void pass(void)
{
    for (int turn = 0; turn < 1000; turn++)
        own++;
}

static void step(void)
{
    pass();
    pass();
    pass();
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, count, NULL);
    while (others == 0)
        ;
    step();
    is_over = 1;
    pthread_join(thread, NULL);
    printf("own %ld\n", own);
    return 0;
}
