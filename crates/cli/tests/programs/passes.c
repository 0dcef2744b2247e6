/* Threads that pass one function, and functions to call from the prompt. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static long passes;
static long rounds = 3;
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) long work(long n)
{
    __atomic_add_fetch(&passes, 1, __ATOMIC_SEQ_CST);
    return n + 1;
}

static void *run(void *unused)
{
    for (long i = 0; i < rounds; i++)
        if (work(i) != i + 1)
            abort();
    return unused;
}

static void *answer(void *value)
{
    *(int *)value = 17;
    return value;
}

__attribute__((noinline)) int started(void)
{
    pthread_t thread;
    int value = 0;
    pthread_create(&thread, 0, answer, &value);
    pthread_join(thread, 0);
    return value;
}

__attribute__((noinline)) void gone(void) { pthread_exit(0); }
__attribute__((noinline)) void leave(int status) { exit(status); }

__attribute__((noinline)) void wait(void)
{
    puts("waiting");
    fflush(stdout);
    pthread_mutex_lock(&held);
}

int main(int argc, char **argv)
{
    pthread_t threads[16];
    int count = argc > 1 ? atoi(argv[1]) : 1;
    if (argc > 2)
        rounds = atol(argv[2]);
    pthread_mutex_lock(&held);
    for (int i = 0; i < count; i++)
        pthread_create(&threads[i], 0, run, 0);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], 0);
    printf("passes %ld\n", passes);
    return argc > 3 ? started() : 0;
}

/* Kept for those who call them. */
void (*const kept[])(void) = {gone, wait};
void (*const kept_too)(int) = leave;
