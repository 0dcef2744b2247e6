// Parts of a file are fetched by threads, and a thread that waits for a signal saves how far each
// is: the offset is told before the bytes are there.
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

enum { PARTS = 2, SIZE = 4 };
static char file[PARTS * SIZE];
static struct part {
    pthread_t thread;
    int begin;
    volatile int done;
} parts[PARTS];
static sigset_t interrupt;

static void *fetch(void *argument) {
    struct part *part = argument;
    for (int i = 0; i < SIZE; i += 2) {
        part->done += 2;
        memset(file + part->begin + i, 'x', 2);
    }
    return 0;
}

static void *save(void *unused) {
    int signal;
    sigwait(&interrupt, &signal);
    for (int p = 0; p < PARTS; p++) {
        int done = parts[p].done;
        for (int i = 0; i < done; i++)
            assert(file[parts[p].begin + i] == 'x');
    }
    return unused;
}

int main(void) {
    pthread_t saver;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    pthread_sigmask(SIG_BLOCK, &interrupt, 0);
    pthread_create(&saver, 0, save, 0);
    for (int i = 0; i < PARTS; i++) {
        parts[i].begin = i * SIZE;
        pthread_create(&parts[i].thread, 0, fetch, &parts[i]);
    }
    pthread_kill(saver, SIGINT);
    for (int i = 0; i < PARTS; i++)
        pthread_join(parts[i].thread, 0);
    pthread_join(saver, 0);
    return 0;
}
