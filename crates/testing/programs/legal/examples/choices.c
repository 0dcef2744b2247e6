/* Queues of several sizes, some of them made anew. */
#include "choices.h"
#include "use.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void fill(struct queue *queue)
{
    while (queue->count < queue->size)
        queue_push(queue, 'a');
}

static void full_to_the_brim(void)
{
    struct queue queue;

    queue_init(&queue, 4);
    fill(&queue);
}

static void no_room_at_all(void)
{
    struct queue queue;

    queue_init(&queue, 0);
    fill(&queue);
}

static void one_place(void)
{
    struct queue queue;

    queue_init(&queue, 1);
    fill(&queue);
}

static void made_anew(void)
{
    struct queue queue;

    for (int size = 5; size > 0; size--) {
        queue_init(&queue, size);
        fill(&queue);
    }
    /* Before it is full. */
    queue_init(&queue, 4);
    queue_push(&queue, 'a');
    queue_init(&queue, 2);
    fill(&queue);
}

static void two_by_turns(void)
{
    struct queue small;
    struct queue large;

    queue_init(&small, 2);
    queue_init(&large, 20);
    for (int i = 0; i < 20; i++) {
        queue_push(&large, 'a');
        if (i % 10 == 0)
            queue_push(&small, 'b');
    }
}

static void deeper(int depth)
{
    struct queue queue;

    queue_init(&queue, depth);
    if (depth > 0)
        deeper(depth - 1);
    fill(&queue);
}

static void one_in_each_call(void)
{
    deeper(5);
    deeper(5);
}

static void allocated_queues(void)
{
    for (int size = 5; size > 0; size--) {
        struct queue *queue = malloc(sizeof *queue);

        queue_init(queue, size);
        fill(queue);
        free(queue);
    }
}

static void *fill_some(void *unused)
{
    for (int size = 0; size < 5; size++) {
        struct queue queue;

        queue_init(&queue, size);
        fill(&queue);
    }
    return unused;
}

static void one_in_each_thread(void)
{
    pthread_t threads[3];

    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, fill_some, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}

static void filled_by_two_processes(void)
{
    struct queue queue;

    queue_init(&queue, 4);
    queue_push(&queue, 'a');
    pid_t child = fork();
    fill(&queue);
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
}

static void half_full_at_the_end(void)
{
    struct queue queue;

    queue_init(&queue, 4);
    queue_push(&queue, 'a');
    exit(0);
}

int main(void)
{
    USE(full_to_the_brim);
    USE(no_room_at_all);
    USE(one_place);
    USE(made_anew);
    USE(two_by_turns);
    USE(one_in_each_call);
    USE(allocated_queues);
    USE(one_in_each_thread);
    USE(filled_by_two_processes);
    LAST_USE(half_full_at_the_end);
}
