/* Queues of several sizes, owners and lives. */
#include "queue.h"
#include "use.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void fill(struct queue *queue)
{
    while (queue->letter_count < queue->size)
        queue_push_letter(queue, 'a');
    while (queue->digit_count < queue->size)
        queue_push_digit(queue, '1');
}

static void full_to_the_brim(void)
{
    struct queue *queue = queue_new(12);

    fill(queue);
    queue_delete(queue);
}

static void no_room_at_all(void)
{
    struct queue *queue = queue_new(0);

    fill(queue);
    queue_print(queue);
    queue_delete(queue);
}

static void no_memory(void)
{
    if (queue_new(SIZE_MAX / 4) != NULL || queue_new(SIZE_MAX / 4) != NULL)
        abort();
    queue_delete(NULL);
}

static void two_by_turns(void)
{
    struct queue *small = queue_new(3);
    struct queue *large = queue_new(30);

    for (int i = 0; i < 30; i++) {
        queue_push_letter(large, 'a');
        if (i % 10 == 0)
            queue_push_digit(small, '1');
    }
    queue_delete(large);
    fill(small);
    queue_delete(small);
}

static void one_address_again_and_again(void)
{
    for (size_t size = 5; size-- > 1;) {
        struct queue *queue = queue_new(size);

        fill(queue);
        queue_delete(queue);
    }
}

static void deeper(int depth)
{
    struct queue *queue = queue_new((size_t)depth);

    if (depth > 0)
        deeper(depth - 1);
    fill(queue);
    queue_delete(queue);
}

static void one_in_each_call(void)
{
    deeper(5);
}

static void *fill_ten(void *unused)
{
    for (size_t size = 0; size < 10; size++) {
        struct queue *queue = queue_new(size);

        fill(queue);
        queue_delete(queue);
    }
    return unused;
}

static void one_in_each_thread(void)
{
    pthread_t threads[3];

    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, fill_ten, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}

static void filled_by_two_processes(void)
{
    struct queue *queue = queue_new(4);

    queue_push_letter(queue, 'a');
    pid_t child = fork();
    fill(queue);
    queue_delete(queue);
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
}

static void left_by_a_jump(void)
{
    jmp_buf back;
    struct queue *queue = queue_new(4);

    if (setjmp(back) == 0) {
        queue_push_letter(queue, 'a');
        longjmp(back, 1);
    }
    fill(queue);
    queue_delete(queue);
}

static void never_deleted(void)
{
    fill(queue_new(7));
    exit(0);
}

int main(void)
{
    USE(full_to_the_brim);
    USE(no_room_at_all);
    USE(no_memory);
    USE(two_by_turns);
    USE(one_address_again_and_again);
    USE(one_in_each_call);
    USE(one_in_each_thread);
    USE(filled_by_two_processes);
    USE(left_by_a_jump);
    LAST_USE(never_deleted);
}
