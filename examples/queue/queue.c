#include "queue.h"

#include <stdio.h>
#include <stdlib.h>

struct queue *queue_new(size_t size)
{
    struct queue *queue = malloc(sizeof *queue + 2 * size);
    if (queue == NULL)
        return NULL;
    queue->size = size;
    queue->letter_count = 0;
    queue->digit_count = 0;
    return queue;
}

void queue_push_letter(struct queue *queue, char letter)
{
    queue->slots[queue->letter_count++] = letter;
}

void queue_push_digit(struct queue *queue, char digit)
{
    queue->slots[queue->size + queue->digit_count++] = digit;
}

void queue_print(const struct queue *queue)
{
    const char *letters = queue->slots;
    const char *digits = queue->slots + queue->size;

    printf("letters %.*s, digits %.*s\n",
           (int)queue->letter_count, letters,
           (int)queue->digit_count, digits);
}

void queue_delete(struct queue *queue)
{
    free(queue);
}
