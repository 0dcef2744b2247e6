/* Threads take turns at a sum that random numbers change, with calls, locks and memory. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/random.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned long sum, turns, rounds, workers;
static unsigned char *memory;
static size_t length;

static void turn(unsigned long number) {
    unsigned char random[8];
    getrandom(random, sizeof random, 0);
    pthread_mutex_lock(&lock);
    while (turns % workers != number)
        pthread_cond_wait(&changed, &lock);
    for (size_t i = 0; i < sizeof random; i++) {
        sum = sum * 31 + random[i];
        memory[sum % length] += random[i];
    }
    turns++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void *work(void *number) {
    for (unsigned long i = 0; i < rounds; i++)
        turn((unsigned long)number);
    return 0;
}

int main(int argc, char **argv) {
    rounds = argc > 1 ? strtoul(argv[1], 0, 10) : 60;
    length = (argc > 2 ? strtoul(argv[2], 0, 10) : 1) << 20;
    workers = argc > 3 ? strtoul(argv[3], 0, 10) : 3;
    int flags = MAP_ANONYMOUS | (argc > 4 ? MAP_SHARED : MAP_PRIVATE);
    memory = mmap(0, length, PROT_READ | PROT_WRITE, flags, -1, 0);
    memset(memory, 1, length);
    pthread_t threads[8];
    for (unsigned long i = 0; i < workers; i++)
        pthread_create(&threads[i], 0, work, (void *)i);
    for (unsigned long i = 0; i < workers; i++)
        pthread_join(threads[i], 0);
    printf("%lu turns, %lu\n", turns, sum);
    return 0;
}
