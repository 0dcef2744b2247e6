/* The words of a command line. */
#ifndef WORDS_H
#define WORDS_H

/* The word that was found last, in its line; null outside a word. */
extern const char *word;

/* Finds the last word of a line. */
void find_word(const char *line);

/* The first character after the letters, digits and dots at `start`. */
const char *name_end(const char *start);

#endif
