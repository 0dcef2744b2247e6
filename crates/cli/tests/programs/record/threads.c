// Threads that take what comes from one another and from the clock, with time-outs and a pipe.
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

enum { WORKERS = 3, SIZE = 64, ITEMS = 50 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static int queue[SIZE], head, tail, is_done, ends[2];
static long sum;

static void wait_a_little(void) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 3000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    if (pthread_cond_timedwait(&ready, &lock, &until) == ETIMEDOUT)
        sum += 1000000;
}

static void *work(void *number) {
    for (;;) {
        pthread_mutex_lock(&lock);
        while (head == tail && !is_done)
            wait_a_little();
        if (head == tail) {
            pthread_mutex_unlock(&lock);
            return number;
        }
        int value = queue[tail++ % SIZE];
        sum = (sum * 31 + value * (1 + (long)number)) % 1000000007;
        pthread_mutex_unlock(&lock);
        usleep(value % 7 * 300);
    }
}

static void *count(void *unused) {
    char byte;
    long total = 0;
    struct timeval now;
    while (read(ends[0], &byte, 1) == 1) {
        gettimeofday(&now, NULL);
        total += byte ^ (now.tv_usec & 1);
    }
    return (void *)total;
}

int main(void) {
    pthread_t workers[WORKERS], counter;
    if (pipe(ends) != 0)
        return 2;
    for (long number = 0; number < WORKERS; number++)
        pthread_create(&workers[number], NULL, work, (void *)number);
    pthread_create(&counter, NULL, count, NULL);
    for (int item = 0; item < ITEMS; item++) {
        char byte = rand() & 63;
        struct timeval now;
        gettimeofday(&now, NULL);
        pthread_mutex_lock(&lock);
        queue[head++ % SIZE] = now.tv_usec % 1000;
        pthread_cond_signal(&ready);
        pthread_mutex_unlock(&lock);
        if (write(ends[1], &byte, 1) != 1)
            return 2;
        if (item % 10 == 0)
            usleep(8000);
    }
    pthread_mutex_lock(&lock);
    is_done = 1;
    pthread_cond_broadcast(&ready);
    pthread_mutex_unlock(&lock);
    for (int number = 0; number < WORKERS; number++)
        pthread_join(workers[number], NULL);
    close(ends[1]);
    void *total;
    pthread_join(counter, &total);
    printf("sum %ld, total %ld\n", sum, (long)total);
    return 0;
}
