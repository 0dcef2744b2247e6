/* A program of two threads that is replaced by itself, in the middle of everything. */
#define _GNU_SOURCE
#include "use.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void a_little_of_everything(void)
{
    for (int i = 0; i < 10; i++) {
        free(seen(malloc(10)));
        fclose(fopen("/dev/null", "r"));
        close(open("/dev/null", O_RDONLY));
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
}

static void *wait_for_ever(void *argument)
{
    pause();
    return argument;
}

/* The addresses of the old program are the new one's, and its locks are gone. */
static void another_program(char *name)
{
    pthread_t thread;

    pthread_create(&thread, NULL, wait_for_ever, NULL);
    free(seen(malloc(9)));
    pthread_mutex_lock(&mutex);
    execl(name, name, "again", (char *)NULL);
    abort();
}

int main(int count, char **arguments)
{
    USE(a_little_of_everything);
    if (count == 1)
        another_program(arguments[0]);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return end_of_uses();
}
