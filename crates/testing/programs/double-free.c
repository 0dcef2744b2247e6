/* Frees one of its blocks twice. The C library does not notice: the block is
 * too large for its cheap check, and other memory around it is free as well.
 * Nor do compilers warn, as the functions are not inlined. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct note {
    char *text;
};

__attribute__((noinline)) struct note *note_new(const char *text);
__attribute__((noinline)) void note_clear(struct note *note);
__attribute__((noinline)) void note_delete(struct note *note);

struct note *note_new(const char *text)
{
    struct note *note = malloc(sizeof *note);
    if (note == NULL)
        return NULL;
    note->text = strdup(text);
    return note;
}

void note_clear(struct note *note)
{
    free(note->text);
#ifdef FIXED
    note->text = NULL;
#endif
}

void note_delete(struct note *note)
{
    free(note->text);
    free(note);
}

int main(void)
{
    struct note *first = note_new("water the plants");
    struct note *second = note_new("call the plumber");
    if (first == NULL || second == NULL)
        return 1;

    free(NULL);
    first->text = realloc(first->text, 4096);
    note_clear(first);
    note_delete(second);
    puts("one note is left");
    fflush(stdout);
    note_delete(first);
    puts("no note is left");
    return 0;
}
