/* A ring of jobs. It does no locking and no waiting of its own. */
#ifndef RING_H
#define RING_H

#include <stddef.h>

struct ring {
    size_t size;
    size_t pushed; /* jobs ever pushed; the next one goes to pushed % size */
    size_t popped; /* jobs ever popped; the next one is at popped % size */
    int jobs[];
};

/* An empty ring with room for `size` jobs, or NULL. */
struct ring *ring_new(size_t size);

/* The caller holds the ring's lock, and there is room for one more. */
void ring_push(struct ring *ring, int job);

/* The caller holds the ring's lock, and there is a job. */
int ring_pop(struct ring *ring);

void ring_delete(struct ring *ring);

#endif
