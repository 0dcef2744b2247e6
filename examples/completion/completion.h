/* Completion of command lines. */
#ifndef COMPLETION_H
#define COMPLETION_H

#include <stddef.h>

/* Writes the line with its last word completed. */
void complete(const char *line, char *completed, size_t size);

#endif
