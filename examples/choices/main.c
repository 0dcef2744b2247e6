/* Puts more letters into a queue than it was made for. */
#include "choices.h"

#include <stdio.h>

int wanted = 7;

int main(void)
{
    struct queue queue;

    queue_init(&queue, 4);
    for (int i = 0; i < wanted; i++)
        queue_push(&queue, 'a' + i);
    printf("%.*s\n", queue.count, queue.slots);
    return 0;
}
