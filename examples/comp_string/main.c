/* Finds the word to complete in a command line, as a shell does at the tab key. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* The end of the part of a word that may be completed. */
static const char *itype_end(const char *ptr)
{
    while (isalnum((unsigned char)*ptr) || *ptr == '-')
        ptr++;
    return ptr;
}

/* The length of the last word of a line. */
static int get_comp_string(const char *line)
{
    const char *s = line;

    for (const char *at = line; *at != '\0'; at++)
        if (*at == ' ')
            s = at + 1;
    if (strchr(s, '!') != NULL)
        s = NULL; /* an event of the history: there is no such thing here */
#ifdef FIXED
    if (s == NULL)
        return 0;
#endif
    return (int)(itype_end(s) - s);
}

int main(void)
{
    const char *lines[] = {"git sta", "cat men", "cat men!"};

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        printf("%-8s %d\n", lines[i], get_comp_string(lines[i]));
    return 0;
}
