/* Uses of a library that are unusual, and correct. Each is a function; its name is printed
 * before it is called, the number of all of them at the end. */
#ifndef USE_H
#define USE_H

#include <stdio.h>

static int uses;

#define USE(function)                \
    do {                             \
        printf("use %s\n", #function); \
        fflush(stdout);              \
        uses++;                      \
        function();                  \
    } while (0)

/* Before a use that does not return. */
#define LAST_USE(function)                   \
    do {                                     \
        printf("sum %d uses\n", uses + 1);   \
        fflush(stdout);                      \
        function();                          \
    } while (0)

static inline int end_of_uses(void)
{
    printf("sum %d uses\n", uses);
    fflush(stdout);
    return 0;
}

/* Compilers leave out allocations that nobody sees: here they cannot know. */
static inline void *seen(void *block)
{
    __asm__ volatile("" : "+r"(block) : : "memory");
    return block;
}

#endif
