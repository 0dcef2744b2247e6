/* A function that begins with one that was inlined, and that ends at once where there is
   nothing to do. Prints how often `clean` was called. */
#include <stdio.h>

static int called, cells[8];

__attribute__((noinline)) static void clear(int *all, int value)
{
    for (int i = 0; i < 8; i++)
        all[i] = value + printf("%s", "");
}

static void clean(int *all, int value)
{
    if (!all)
        return;
    clear(all, value);
}

__attribute__((noinline)) static void first(int *all)
{
    clean(all, 1);
    called++;
}

__attribute__((noinline)) static void second(int *all)
{
    clean(all, 2);
    called++;
}

int main(int count, char **arguments)
{
    for (int i = 0; i < 3; i++) {
        first(i % 2 ? cells : 0);
        second(count > 5 ? 0 : cells);
    }
    printf("called %d%s\n", called, arguments[0] ? "" : "?");
    return 0;
}
