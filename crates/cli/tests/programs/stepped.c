// One thread is stepped through `walk` while another runs through `work`, and
// waits for it in a line that goes round.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static volatile int flag;
static volatile long total;

__attribute__((noinline)) static void work(long n) { total += n; }

static void *other(void *unused) {
    for (long i = 0; i < 500; i++)
        work(i);
    flag = 1;
    return unused;
}

__attribute__((noinline)) static long walk(int rounds) {
    volatile long sum = 0;
    for (int i = 0; i < rounds; i++) {
        sum += i;
        sum ^= 3;
    }
    return sum;
}

int main(int argc, char **argv) {
    pthread_t thread;
    int has_other = argc > 1;
    if (has_other)
        pthread_create(&thread, 0, other, 0);
    while (has_other && !flag);
    long sum = walk(100);
    if (has_other)
        pthread_join(thread, 0);
    printf("total %ld sum %ld\n", total, sum);
    return 0;
}
