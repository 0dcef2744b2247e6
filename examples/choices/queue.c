#include "choices.h"

void queue_init(struct queue *queue, int size)
{
    queue->size = size;
    queue->count = 0;
}

void queue_push(struct queue *queue, char letter)
{
    queue->slots[queue->count++] = letter;
}
