// A table of the threads that are traced: entries are added without a lock, and one may be lost.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct entry {
    pthread_t thread;
    int level;
    struct entry *next;
};
static struct entry *table[2];
static int level;

static struct entry *find(pthread_t thread) {
    for (struct entry *entry = table[0]; entry; entry = entry->next)
        if (pthread_equal(entry->thread, thread))
            return entry;
    return 0;
}

static void add(pthread_t thread) {
    struct entry *entry = malloc(sizeof *entry);
    entry->thread = thread;
    entry->level = level;
    entry->next = table[0];
    table[0] = entry;
}

static void *run(void *unused) {
    add(pthread_self());
    level++;
    // It was added just now.
    find(pthread_self())->level = level;
    return unused;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, run, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    assert(table[0] != 0);
    return 0;
}
