// A writer that fills a pipe while it has the lock that the reader needs.
#include <pthread.h>
#include <unistd.h>

enum { TOTAL = 100000 };

static int ends[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int is_reading;
static char out[TOTAL], in[TOTAL];

static void *read_all(void *unused) {
    is_reading = 1;
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    for (long got = 0; got < TOTAL;)
        got += read(ends[0], in + got, TOTAL - got);
    return unused;
}

int main(void) {
    pthread_t reader;
    if (pipe(ends) != 0)
        return 1;
    pthread_create(&reader, 0, read_all, 0);
    // The reader is thought to be past its lock.
    if (is_reading) {
        pthread_mutex_lock(&lock);
        (void)!write(ends[1], out, TOTAL);
        pthread_mutex_unlock(&lock);
    } else {
        (void)!write(ends[1], out, TOTAL);
    }
    pthread_join(reader, 0);
    return 0;
}
