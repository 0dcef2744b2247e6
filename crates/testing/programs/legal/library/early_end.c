/* A program that ends early, at once, and with everything in its hands that it may keep. */
#define _GNU_SOURCE
#include "use.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* Before `main`, where streams are not used yet. */
__attribute__((constructor)) static void begin(void)
{
    free(seen(malloc(7)));
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
}

__attribute__((destructor)) static void end(void)
{
    free(seen(malloc(7)));
}

static void a_child_that_leaves(void)
{
    pid_t child = fork();

    if (child == 0)
        exit(3);
    waitpid(child, NULL, 0);
}

static void a_quick_end(void)
{
    pthread_mutex_lock(&mutex);
    if (seen(malloc(100)) == NULL)
        abort();
    quick_exit(0);
}

int main(void)
{
    USE(a_child_that_leaves);
    LAST_USE(a_quick_end);
}
