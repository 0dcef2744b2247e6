#include "words.h"

#include <ctype.h>
#include <stddef.h>

const char *word;

const char *name_end(const char *start)
{
    while (isalnum((unsigned char)*start) || *start == '.')
        start++;
    return start;
}

/* A redirection is no word, and ends the one before. */
void find_word(const char *line)
{
    word = line;
    for (const char *here = line; *here != '\0'; here++) {
        if (*here == ' ')
            word = here + 1;
        else if (*here == '<' || *here == '>')
            word = NULL;
    }
}
