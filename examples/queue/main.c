/* Takes shopping lists apart: the words into letters, the amounts into digits. */
#include "queue.h"

#include <stdio.h>

static void sort_text(struct queue *queue, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text >= '0' && *text <= '9') {
            if (queue->digit_count < queue->size)
                queue_push_digit(queue, *text);
        } else if (*text >= 'a' && *text <= 'z') {
#ifdef FIXED
            if (queue->letter_count < queue->size)
#endif
                queue_push_letter(queue, *text);
        }
    }
}

int main(void)
{
    const char *lists[] = {
        "2 eggs, 1 ham",
        "5 eggs, 4 pears, 3 leeks, 1 ham",
    };
    struct queue *queues[2];

    for (int i = 0; i < 2; i++) {
        queues[i] = queue_new(12);
        if (queues[i] == NULL)
            return 1;
    }
    for (int i = 0; i < 2; i++)
        sort_text(queues[i], lists[i]);
    for (int i = 0; i < 2; i++) {
        printf("%s: ", lists[i]);
        queue_print(queues[i]);
        queue_delete(queues[i]);
    }
    return 0;
}
