#include "completion.h"
#include "words.h"

#include <stdio.h>
#include <string.h>

/* What can be completed. */
static const char *const known[] = {"status", "stash", "menu.txt", "main.c"};

void complete(const char *line, char *completed, size_t size)
{
    find_word(line);
    snprintf(completed, size, "%s", line);
#ifdef FIXED
    if (word == NULL)
        return;
#endif
    size_t length = (size_t)(name_end(word) - word);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (length > 0 && strncmp(known[i], word, length) == 0) {
            snprintf(completed, size, "%.*s%s", (int)(word - line), line,
                     known[i]);
            return;
        }
    }
}
