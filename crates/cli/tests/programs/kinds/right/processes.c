#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void take(void) { pthread_mutex_lock(&lock); }
static void give(void) { pthread_mutex_unlock(&lock); }

static void *work(void *unused) {
    for (int i = 0; i < 2; i++) {
        take();
        count++;
        give();
    }
    return unused;
}

static void *make(void *unused) {
    pid_t child = fork();
    if (child == 0) {
        take();
        give();
        _exit(3);
    }
    int status;
    assert(waitpid(child, &status, 0) == child);
    assert(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    assert(system("exit 4") == 4 << 8);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_atfork(take, give, give);
    pthread_create(&threads[0], 0, work, 0);
    pthread_create(&threads[1], 0, make, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    assert(count == 2);
    return 0;
}
