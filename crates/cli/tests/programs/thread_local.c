/* Variables that each thread has for itself. */
#include <pthread.h>
#include <stddef.h>

static __thread char first = 1;
__thread long mine __attribute__((aligned(32))) = 100;
static __thread int zero;

__attribute__((noinline)) void stop(int number)
{
    __asm__ volatile("" : : "r"(number), "r"(&mine), "r"(&zero), "r"(&first) : "memory");
}

static void *run(void *number)
{
    mine += (long)number;
    zero = (int)(long)number;
    stop(zero);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    run((void *)1);
    pthread_create(&thread, NULL, run, (void *)2);
    pthread_join(thread, NULL);
    stop(3);
    return first - 1;
}
