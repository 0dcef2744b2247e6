/* Counts words and drops those that were seen once. */
#include "table.h"

#include <stdio.h>

static void drop_rare(struct table *table)
{
    struct iterator iterator;
    struct entry entry;

    iterator_begin(&iterator, table);
    while (iterator_next(&iterator, &entry)) {
        if (entry.count > 1)
            continue;
        table_remove(table, entry.word);
#ifdef FIXED
        iterator_begin(&iterator, table);
#endif
    }
}

static void print(struct table *table)
{
    struct iterator iterator;
    struct entry entry;

    iterator_begin(&iterator, table);
    while (iterator_next(&iterator, &entry))
        printf("%s %d\n", entry.word, entry.count);
}

int main(void)
{
    const char *words[] = {"to", "be", "or", "not", "to", "be", "that", "is",
                           "the", "question"};
    struct table *table = table_new();

    if (table == NULL)
        return 1;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        table_add(table, words[i]);
    drop_rare(table);
    print(table);
    table_delete(table);
    return 0;
}
