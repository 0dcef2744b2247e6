/* Completes the last word of a command line, as a shell does at the tab key. */
#include "completion.h"

#include <stdio.h>

int main(void)
{
    const char *lines[] = {"git sta", "cat < men", "echo !>."};

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char completed[64];

        complete(lines[i], completed, sizeof completed);
        printf("%-10s -> %s\n", lines[i], completed);
    }
    return 0;
}
