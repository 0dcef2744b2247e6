/* A queue that keeps letters and digits apart, each in an array of its own. */
#ifndef QUEUE_H
#define QUEUE_H

#include <stddef.h>

struct queue {
    size_t size; /* how many letters, and how many digits, it has room for */
    size_t letter_count;
    size_t digit_count;
    char slots[]; /* the letters; the digits follow, from slots + size on */
};

/* A queue with room for `size` letters and `size` digits, or NULL. */
struct queue *queue_new(size_t size);

/* The caller sees to it that there is room for one more. */
void queue_push_letter(struct queue *queue, char letter);
void queue_push_digit(struct queue *queue, char digit);

void queue_print(const struct queue *queue);
void queue_delete(struct queue *queue);

#endif
