/* Blocks of one thread, from every function that gives one. */
#define _GNU_SOURCE
#include "use.h"

#include <glob.h>
#include <malloc.h>
#include <regex.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void free_of_null(void)
{
    free(seen(NULL));
    free(seen(NULL));
}

static void resize_from_and_to_nothing(void)
{
    for (int i = 0; i < 20; i++) {
        void *block = realloc(seen(NULL), 10);
        block = realloc(seen(block), 100000);
        if (realloc(seen(block), 0) != NULL)
            abort();
    }
}

static void resize_that_fails(void)
{
    char *block = malloc(10);

    for (int i = 0; i < 20; i++)
        if (realloc(seen(block), (size_t)PTRDIFF_MAX - 4096) != NULL)
            abort();
    free(block);
}

static void blocks_of_no_bytes(void)
{
    for (int i = 0; i < 20; i++) {
        free(seen(malloc(0)));
        free(seen(calloc(0, 8)));
    }
}

static void aligned_blocks(void)
{
    void *block = NULL;

    for (int i = 0; i < 20; i++) {
        free(seen(aligned_alloc(64, 128)));
        free(seen(memalign(64, 3)));
        free(seen(valloc(3)));
        free(seen(pvalloc(3)));
        if (posix_memalign(&block, 32, 10) == 0)
            free(block);
        /* The block stays as it was: it is freed already. */
        if (posix_memalign(&block, 3, 10) == 0)
            abort();
    }
}

static void blocks_of_texts(void)
{
    char *text = NULL;

    for (int i = 0; i < 20; i++) {
        free(seen(strdup("text")));
        free(seen(strndup("text", 2)));
        if (asprintf(&text, "%d", i) > 0)
            free(text);
        free(realpath("/", NULL));
        free(getcwd(NULL, 0));
    }
}

static void lines_that_grow(void)
{
    char content[3000];
    char *line = NULL;
    size_t size = 0;

    memset(content, 'a', sizeof content);
    for (size_t i = 10; i < sizeof content; i *= 2)
        content[i] = '\n';
    FILE *stream = fmemopen(content, sizeof content, "r");
    while (stream != NULL && getline(&line, &size, stream) > 0)
        continue;
    free(line);
    if (stream != NULL)
        fclose(stream);
}

static void blocks_of_library_objects(void)
{
    glob_t found;
    regex_t expression;

    for (int i = 0; i < 5; i++) {
        if (glob("/*", 0, NULL, &found) == 0)
            globfree(&found);
        if (regcomp(&expression, "a(b|c)*d", REG_EXTENDED) == 0)
            regfree(&expression);
    }
}

static void all_of_a_block(void)
{
    char *block = malloc(3);
    size_t size = malloc_usable_size(block);

    block = realloc(block, size);
    memset(block, 1, size);
    free(block);
    block = reallocarray(NULL, 3, 4);
    block = reallocarray(block, 300, 4);
    free(block);
    malloc_trim(0);
}

static void a_list_freed_from_both_ends(void)
{
    void *blocks[40];

    for (int i = 0; i < 40; i++)
        blocks[i] = seen(malloc(16));
    for (int i = 0; i < 20; i++) {
        free(blocks[i]);
        free(blocks[39 - i]);
    }
}

int main(void)
{
    USE(free_of_null);
    USE(resize_from_and_to_nothing);
    USE(resize_that_fails);
    USE(blocks_of_no_bytes);
    USE(aligned_blocks);
    USE(blocks_of_texts);
    USE(lines_that_grow);
    USE(blocks_of_library_objects);
    USE(all_of_a_block);
    USE(a_list_freed_from_both_ends);
    return end_of_uses();
}
