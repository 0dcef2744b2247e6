/* Uses the allocator, streams and mutexes in every correct way that a property
 * over the C library might take for a mistake. Prints a line and exits 0. */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, ROUNDS = 50 };

/* Compilers leave out allocations that nobody sees: here they cannot know. */
static void *seen(void *block)
{
    __asm__ volatile("" : "+r"(block) : : "memory");
    return block;
}

static void allocate(void)
{
    void *block = NULL;

    free(NULL);
    for (size_t size = 1; size < 1 << 20; size *= 4) {
        free(seen(malloc(size)));
        free(seen(calloc(size, 2)));
        free(seen(aligned_alloc(64, size * 64)));
        free(seen(valloc(size)));
        free(seen(pvalloc(size)));
        if (posix_memalign(&block, 32, size) == 0)
            free(block);
        block = realloc(NULL, size);
        block = realloc(block, 4 * size);
        block = reallocarray(block, 8, size);
        block = realloc(block, size);
        void *failed = realloc(block, (size_t)PTRDIFF_MAX - 4096);
        free(failed == NULL ? block : failed);
        /* Freed by the call, which is what this C library does. */
        if (seen(realloc(seen(malloc(size)), 0)) != NULL)
            abort();
    }
    free(seen(strdup("text")));
    char *line = NULL;
    if (asprintf(&line, "%d", 7) > 0)
        free(line);
}

static void open_and_close(void)
{
    char *memory = NULL;
    size_t size = 0;
    FILE *streams[] = {
        fopen("/dev/null", "r"),
        tmpfile(),
        fmemopen(NULL, 64, "w+"),
        open_memstream(&memory, &size),
    };
    for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++) {
        if (streams[i] != NULL)
            fclose(streams[i]);
    }
    free(memory);
    FILE *again = fopen("/dev/null", "r");
    if (again != NULL)
        again = freopen("/dev/zero", "r", again);
    if (again != NULL)
        fclose(again);
    FILE *command = popen("exit 0", "r");
    if (command != NULL)
        pclose(command);
    FILE *missing = fopen("/nonexistent", "r");
    if (missing != NULL)
        fclose(missing);
}

static pthread_mutex_t turn_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn_changed = PTHREAD_COND_INITIALIZER;
static int turn;
static pthread_mutex_t recursive;
static pthread_mutex_t checking;
static pthread_key_t key;

/* The threads take turns by a condition variable. */
static void take_turn(int self)
{
    pthread_mutex_lock(&turn_lock);
    while (turn % THREADS != self)
        pthread_cond_wait(&turn_changed, &turn_lock);
    turn++;
    pthread_cond_broadcast(&turn_changed);
    pthread_mutex_unlock(&turn_lock);
}

static void lock_again_and_again(void)
{
    pthread_mutex_lock(&recursive);
    pthread_mutex_lock(&recursive);
    if (pthread_mutex_trylock(&recursive) == 0)
        pthread_mutex_unlock(&recursive);
    pthread_mutex_unlock(&recursive);
    pthread_mutex_unlock(&recursive);

    pthread_mutex_lock(&checking);
    if (pthread_mutex_lock(&checking) != EDEADLK)
        abort();
    pthread_mutex_unlock(&checking);

    /* A mutex of its own, at an address that is used again. */
    pthread_mutex_t *mutex = malloc(sizeof *mutex);
    if (mutex == NULL)
        return;
    pthread_mutex_init(mutex, NULL);
    pthread_mutex_lock(mutex);
    pthread_mutex_unlock(mutex);
    pthread_mutex_destroy(mutex);
    free(mutex);
}

static void *work(void *argument)
{
    int self = *(int *)argument;

    /* Freed by the key's destructor, when the thread ends. */
    pthread_setspecific(key, malloc(100));
    for (int round = 0; round < ROUNDS; round++) {
        take_turn(self);
        lock_again_and_again();
        char *blocks[8];
        for (size_t i = 0; i < 8; i++)
            blocks[i] = seen(realloc(seen(malloc(16 << i)), 24 << i));
        for (size_t i = 0; i < 8; i++)
            free(blocks[i]);
    }
    return NULL;
}

static void run_threads(void)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];

    turn = 0;
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, work, &numbers[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

int main(void)
{
    pthread_mutexattr_t attributes;

    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&recursive, &attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&checking, &attributes);
    pthread_key_create(&key, free);

    allocate();
    open_and_close();
    /* Threads that begin where others have ended. */
    run_threads();
    run_threads();
    allocate();

    puts("all is well");
    fclose(stdin);
    return 0;
}
