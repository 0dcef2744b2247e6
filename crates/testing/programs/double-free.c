/* Frees one of its blocks twice. Nothing is allocated in between, or the block
 * would be another's by then. The C library may notice, and abort. Compilers do
 * not warn, as the functions are not inlined. */
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
    puts("two notes");
    struct note *first = note_new("water the plants");
    struct note *second = note_new("call the plumber");
    if (first == NULL || second == NULL)
        return 1;

    free(NULL);
    first->text = realloc(first->text, 4096);
    note_clear(first);
    note_delete(second);
    puts("one note");
    fflush(stdout);
    note_delete(first);
    puts("no note");
    return 0;
}
