#include "document.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

struct document *document_open(const char *path)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return NULL;
    struct document *document = malloc(sizeof *document);
    if (document == NULL)
        close(descriptor);
    else
        document->descriptor = descriptor;
    return document;
}

bool document_read(struct document *document, char *line, size_t size)
{
    size_t length = 0;
    char next;

    while (read(document->descriptor, &next, 1) == 1) {
        if (next == '\n') {
            line[length] = '\0';
            return true;
        }
        if (length + 1 < size)
            line[length++] = next;
    }
    line[length] = '\0';
    return length > 0;
}

void document_close(struct document *document)
{
    close(document->descriptor);
}

void document_delete(struct document *document)
{
    free(document);
}
