/* A text file that is read line by line. */
#ifndef DOCUMENT_H
#define DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>

struct document {
    int descriptor;
};

/* The document of that path, open, or NULL. */
struct document *document_open(const char *path);

/*
 * Reads the next line of an open document, without its end, into `line`; what
 * does not fit is dropped. False at the end of the document.
 */
bool document_read(struct document *document, char *line, size_t size);

/* Ends the use of the file; the document itself remains. */
void document_close(struct document *document);

/* Ends the document; it is closed already. */
void document_delete(struct document *document);

#endif
