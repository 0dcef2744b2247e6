// A pool of threads that sort parts: who hands a part over sets the state and signals before the
// worker has looked at it under its lock.
#include <assert.h>
#include <pthread.h>

enum { WORKERS = 3, COUNT = 24, IDLE = 0, WORK = 1, QUIT = 2 };
struct worker {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    volatile int state;
    int low, high;
};
static struct worker workers[WORKERS];
static int values[COUNT];
static pthread_mutex_t pool = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_idle = PTHREAD_COND_INITIALIZER;
static int busy;

static int hand_over(int low, int high) {
    for (int i = 0; i < WORKERS; i++) {
        struct worker *it = &workers[i];
        if (it->state != IDLE)
            continue;
        // The pool's lock belongs around both: two may choose the same worker.
        it->low = low;
        it->high = high;
        pthread_mutex_lock(&pool);
        busy++;
        pthread_mutex_unlock(&pool);
        pthread_mutex_lock(&it->lock);
        it->state = WORK;
        pthread_cond_signal(&it->changed);
        pthread_mutex_unlock(&it->lock);
        return 1;
    }
    return 0;
}

static void sort(int low, int high) {
    while (low < high) {
        int pivot = values[(low + high) / 2], i = low, j = high;
        while (i <= j) {
            while (values[i] < pivot)
                i++;
            while (values[j] > pivot)
                j--;
            if (i <= j) {
                int swapped = values[i];
                values[i++] = values[j];
                values[j--] = swapped;
            }
        }
        if (j - low < 3 || !hand_over(low, j))
            sort(low, j);
        low = i;
    }
}

static void *work(void *argument) {
    struct worker *me = argument;
    for (;;) {
        pthread_mutex_lock(&me->lock);
        while (me->state == IDLE)
            pthread_cond_wait(&me->changed, &me->lock);
        int state = me->state;
        pthread_mutex_unlock(&me->lock);
        if (state == QUIT)
            return 0;
        sort(me->low, me->high);
        me->state = IDLE;
        pthread_mutex_lock(&pool);
        if (--busy == 0)
            pthread_cond_signal(&all_idle);
        pthread_mutex_unlock(&pool);
    }
}

int main(void) {
    for (int i = 0; i < COUNT; i++)
        values[i] = (i * 7) % COUNT;
    for (int i = 0; i < WORKERS; i++) {
        pthread_mutex_init(&workers[i].lock, 0);
        pthread_cond_init(&workers[i].changed, 0);
        pthread_create(&workers[i].thread, 0, work, &workers[i]);
    }
    hand_over(0, COUNT - 1);
    pthread_mutex_lock(&pool);
    while (busy != 0)
        pthread_cond_wait(&all_idle, &pool);
    pthread_mutex_unlock(&pool);
    for (int i = 0; i < WORKERS; i++) {
        pthread_mutex_lock(&workers[i].lock);
        workers[i].state = QUIT;
        pthread_cond_signal(&workers[i].changed);
        pthread_mutex_unlock(&workers[i].lock);
    }
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i].thread, 0);
    for (int i = 0; i < COUNT; i++)
        assert(values[i] == i);
    return 0;
}
