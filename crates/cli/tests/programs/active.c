// Calls that are active in two threads when `mark` is called.
// Prints how many calls of `down` and of `blocked` return after that.
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

static sem_t inside, leave;
static long returned;
static int marked;

__attribute__((noinline)) void mark(void) {
    marked = 1;
    __asm__ volatile("" ::: "memory");
}

// Recursion that marks at its deepest point.
__attribute__((noinline)) int down(int n) {
    if (n == 0)
        mark();
    int result = n == 0 ? 0 : down(n - 1) + 1;
    __asm__ volatile("" : "+r"(result)::"memory");
    if (marked)
        returned++;
    return result;
}

// Another thread waits in here meanwhile.
__attribute__((noinline)) int blocked(int n) {
    sem_post(&inside);
    sem_wait(&leave);
    __asm__ volatile("" : "+r"(n)::"memory");
    return n + 1;
}

static void *run(void *result) {
    *(int *)result = blocked(6);
    return 0;
}

int main(void) {
    pthread_t thread;
    int result;
    sem_init(&inside, 0, 0);
    sem_init(&leave, 0, 0);
    pthread_create(&thread, 0, run, &result);
    sem_wait(&inside);
    int depth = down(4);
    sem_post(&leave);
    pthread_join(thread, 0);
    depth += down(1);
    printf("returned %ld depth %d result %d\n", returned, depth, result);
    return 0;
}
