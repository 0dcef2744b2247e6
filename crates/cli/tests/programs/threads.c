// Threads that pass through one function; prints the true count.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static _Atomic long passes;
static int rounds;

__attribute__((noinline)) void pass(long thread, long round) {
    __asm__ volatile("" ::"r"(thread), "r"(round));
    passes++;
}

static void *run(void *thread) {
    for (long round = 0; round < rounds; round++)
        pass((long)thread, round);
    return 0;
}

int main(int argc, char **argv) {
    int count = argc > 1 ? atoi(argv[1]) : 4;
    rounds = argc > 2 ? atoi(argv[2]) : 500;
    pthread_t threads[64];
    for (long i = 0; i < count; i++)
        pthread_create(&threads[i], 0, run, (void *)i);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], 0);
    printf("passes %ld\n", passes);
    return 0;
}
