#include "ring.h"

#include <stdlib.h>

struct ring *ring_new(size_t size)
{
    struct ring *ring = calloc(1, sizeof *ring + size * sizeof ring->jobs[0]);
    if (ring != NULL)
        ring->size = size;
    return ring;
}

void ring_push(struct ring *ring, int job)
{
    ring->jobs[ring->pushed++ % ring->size] = job;
}

int ring_pop(struct ring *ring)
{
    return ring->jobs[ring->popped++ % ring->size];
}

void ring_delete(struct ring *ring)
{
    free(ring);
}
