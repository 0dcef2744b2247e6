/* A queue of letters, and how many of them somebody wants. */
#ifndef CHOICES_H
#define CHOICES_H

struct queue {
    int size;
    int count;
    char slots[64];
};

extern int wanted;

void queue_init(struct queue *queue, int size);
void queue_push(struct queue *queue, char letter);

#endif
