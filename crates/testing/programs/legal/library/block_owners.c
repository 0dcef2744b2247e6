/* Blocks that another one frees than the one who allocated them: another thread, the end of a
 * thread, a child, an exit handler. */
#define _GNU_SOURCE
#include "use.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_key_t key;

static void *allocate(void *argument)
{
    for (int i = 0; i < 50; i++)
        free(seen(realloc(seen(malloc(16 + i)), 16 + 2 * i)));
    (void)argument;
    return malloc(30);
}

static void another_thread_frees(void)
{
    for (int i = 0; i < 5; i++) {
        pthread_t threads[3];
        void *block;

        for (int k = 0; k < 3; k++)
            pthread_create(&threads[k], NULL, allocate, NULL);
        for (int k = 0; k < 3; k++) {
            pthread_join(threads[k], &block);
            free(block);
        }
    }
}

static void *keep(void *argument)
{
    pthread_setspecific(key, malloc(20));
    return argument;
}

static void a_destructor_frees(void)
{
    pthread_t thread;

    for (int i = 0; i < 5; i++) {
        pthread_create(&thread, NULL, keep, NULL);
        pthread_join(thread, NULL);
    }
}

static void *leave(void *argument)
{
    char *block = malloc(100);

    pthread_cleanup_push(free, block);
    pthread_exit(argument);
    pthread_cleanup_pop(0);
}

static void a_cleanup_handler_frees(void)
{
    pthread_t thread;

    for (int i = 0; i < 5; i++) {
        pthread_create(&thread, NULL, leave, NULL);
        pthread_join(thread, NULL);
    }
}

static void the_child_frees_too(void)
{
    void *block = seen(malloc(10));
    pid_t child = fork();

    if (child == 0) {
        free(block);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    free(block);
}

static void freed_before_a_jump(void)
{
    jmp_buf back;
    volatile int jumps = 0;
    void *volatile block = malloc(3);

    if (setjmp(back) < 3) {
        jumps++;
        free(block);
        block = malloc(4);
        longjmp(back, jumps);
    }
    free(block);
}

static void *free_it(void *block)
{
    free(block);
    return NULL;
}

static void a_thread_frees_what_it_is_given(void)
{
    pthread_attr_t attributes;
    pthread_t thread;

    /* The stack of a thread that has ended is the next one's. */
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 * 1024);
    for (int i = 0; i < 5; i++) {
        pthread_create(&thread, &attributes, free_it, malloc(50));
        pthread_join(thread, NULL);
    }
    pthread_attr_destroy(&attributes);
}

static void *at_the_end;

static void free_at_the_end(void)
{
    free(at_the_end);
    free(seen(malloc(5)));
}

static void an_exit_handler_frees(void)
{
    at_the_end = malloc(12);
    atexit(free_at_the_end);
    exit(0);
}

int main(void)
{
    pthread_key_create(&key, free);
    USE(another_thread_frees);
    USE(a_destructor_frees);
    USE(a_cleanup_handler_frees);
    USE(the_child_frees_too);
    USE(freed_before_a_jump);
    USE(a_thread_frees_what_it_is_given);
    LAST_USE(an_exit_handler_frees);
}
