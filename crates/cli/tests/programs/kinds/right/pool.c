#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
enum { WORKERS = 3, TASKS = 5 };
struct task {
    struct task *next;
    int number;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_task = PTHREAD_COND_INITIALIZER, is_idle = PTHREAD_COND_INITIALIZER;
static struct task *first;
static int pending, is_closed, sum;

static void *work(void *unused) {
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!first && !is_closed)
            pthread_cond_wait(&has_task, &lock);
        if (!first)
            break;
        struct task *task = first;
        first = task->next;
        pthread_mutex_unlock(&lock);
        int number = task->number;
        free(task);
        pthread_mutex_lock(&lock);
        sum += number;
        if (--pending == 0)
            pthread_cond_broadcast(&is_idle);
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t threads[WORKERS];
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&threads[i], 0, work, 0);
    for (int i = 1; i <= TASKS; i++) {
        struct task *task = malloc(sizeof *task);
        task->number = i;
        pthread_mutex_lock(&lock);
        task->next = first;
        first = task;
        pending++;
        pthread_cond_signal(&has_task);
        pthread_mutex_unlock(&lock);
    }
    pthread_mutex_lock(&lock);
    while (pending)
        pthread_cond_wait(&is_idle, &lock);
    is_closed = 1;
    pthread_cond_broadcast(&has_task);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], 0);
    assert(sum == TASKS * (TASKS + 1) / 2);
    return 0;
}
