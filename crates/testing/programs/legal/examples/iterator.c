/* Iterators that begin anew, end early, and go through several tables. */
#include "table.h"
#include "use.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static struct table *table_of(const char *const *words)
{
    struct table *table = table_new();

    for (; *words != NULL; words++)
        table_add(table, *words);
    return table;
}

static const char *const WORDS[] = {"to", "be", "or", "not", NULL};

static int rest_of(struct iterator *iterator)
{
    struct entry entry;
    int count = 0;

    while (iterator_next(iterator, &entry))
        count++;
    return count;
}

static int count_of(struct table *table)
{
    struct iterator iterator;

    iterator_begin(&iterator, table);
    return rest_of(&iterator);
}

static void an_empty_table(void)
{
    struct table *table = table_new();

    if (count_of(table) != 0)
        abort();
    table_remove(table, "not there");
    table_delete(table);
}

static void known_words_change_nothing(void)
{
    struct table *table = table_of(WORDS);
    struct iterator iterator;
    struct entry entry;

    iterator_begin(&iterator, table);
    while (iterator_next(&iterator, &entry)) {
        table_add(table, entry.word);
        table_remove(table, "not there");
    }
    table_delete(table);
}

static void begun_anew_after_each_change(void)
{
    struct table *table = table_of(WORDS);
    struct iterator iterator;
    struct entry entry;

    iterator_begin(&iterator, table);
    while (iterator_next(&iterator, &entry)) {
        table_remove(table, entry.word);
        iterator_begin(&iterator, table);
    }
    table_delete(table);
}

static void one_within_the_other(void)
{
    struct table *table = table_of(WORDS);
    struct iterator outer;
    struct entry entry;

    iterator_begin(&outer, table);
    while (iterator_next(&outer, &entry))
        if (count_of(table) != 4)
            abort();
    table_delete(table);
}

static void one_through_two_tables(void)
{
    struct table *first = table_of(WORDS);
    struct table *second = table_of(WORDS);
    struct iterator iterator;

    iterator_begin(&iterator, first);
    rest_of(&iterator);
    iterator_begin(&iterator, second);
    table_add(first, "that");
    rest_of(&iterator);
    table_delete(first);
    iterator_begin(&iterator, second);
    rest_of(&iterator);
    table_delete(second);
}

static void another_table_changes(void)
{
    struct table *from = table_of(WORDS);
    struct table *to = table_new();
    struct iterator iterator;
    struct entry entry;

    iterator_begin(&iterator, from);
    while (iterator_next(&iterator, &entry))
        table_add(to, entry.word);
    table_delete(to);
    rest_of(&iterator);
    table_delete(from);
}

static void left_before_a_change(void)
{
    struct table *table = table_of(WORDS);
    struct iterator iterator;
    struct entry entry;

    iterator_begin(&iterator, table);
    iterator_next(&iterator, &entry);
    table_add(table, "that");
    table_remove(table, "to");
    table_delete(table);
}

static void one_address_for_many_tables(void)
{
    struct iterator iterator;

    for (int i = 0; i < 5; i++) {
        struct table *table = table_of(WORDS);

        iterator_begin(&iterator, table);
        rest_of(&iterator);
        table_add(table, "that");
        table_delete(table);
    }
}

static void deeper(struct table *table, int depth)
{
    struct iterator iterator;
    struct entry entry;

    iterator_begin(&iterator, table);
    iterator_next(&iterator, &entry);
    if (depth > 0)
        deeper(table, depth - 1);
    rest_of(&iterator);
}

static void one_in_each_call(void)
{
    struct table *table = table_of(WORDS);

    deeper(table, 4);
    table_add(table, "that");
    deeper(table, 4);
    table_delete(table);
}

static void *count_and_change(void *unused)
{
    for (int i = 0; i < 10; i++) {
        struct table *table = table_of(WORDS);

        count_of(table);
        table_remove(table, "be");
        count_of(table);
        table_delete(table);
    }
    return unused;
}

static void one_in_each_thread(void)
{
    pthread_t threads[3];

    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, count_and_change, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}

static void the_child_changes_its_own(void)
{
    struct table *table = table_of(WORDS);
    struct iterator iterator;

    iterator_begin(&iterator, table);
    pid_t child = fork();
    if (child == 0) {
        table_add(table, "that");
        _exit(0);
    }
    waitpid(child, NULL, 0);
    rest_of(&iterator);
    table_delete(table);
}

int main(void)
{
    USE(an_empty_table);
    USE(known_words_change_nothing);
    USE(begun_anew_after_each_change);
    USE(one_within_the_other);
    USE(one_through_two_tables);
    USE(another_table_changes);
    USE(left_before_a_change);
    USE(one_address_for_many_tables);
    USE(one_in_each_call);
    USE(one_in_each_thread);
    USE(the_child_changes_its_own);
    return end_of_uses();
}
