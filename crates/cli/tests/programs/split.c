/* A function that gcc splits, and whose rest it inlines again: in it, and in its copies,
   stands a copy of it that is no call. Prints how often it was called. */
#include <stdio.h>
#include <stdlib.h>

struct value { int kind; int *cells; };
static int called, kept;

__attribute__((noinline)) void free_cells(struct value *value) {
    kept += value->cells[0];
    free(value->cells);
}

void release(struct value *value) {
    if (!value) return;
    free_cells(value);
    free(value);
}

__attribute__((noinline)) static struct value *make(int kind) {
    if (kind % 3 == 0) return 0;
    struct value *value = malloc(sizeof *value);
    value->kind = kind;
    value->cells = calloc(4, sizeof(int));
    value->cells[0] = kind;
    return value;
}

__attribute__((noinline)) static void once(int kind) {
    called++;
    release(make(kind));
}

static void (*volatile by_address)(struct value *) = release;

int main(void) {
    for (int kind = 0; kind < 9; kind++) once(kind);
    for (int kind = 0; kind < 9; kind++) {
        called++;
        by_address(make(kind));
    }
    printf("called %d, kept %d\n", called, kept);
    return 0;
}
