/* What a shop has, in a list. */
#include <stdio.h>

struct item {
    const char *name;
    int count;
    unsigned is_new : 1;
    struct item *next;
};

struct inventory {
    struct item *first;
    int total;
};

static void add(struct inventory *inventory, struct item *item)
{
    item->next = inventory->first;
    inventory->first = item;
    inventory->total += item->count;
}

int main(void)
{
    struct item items[] = {{"bolt", 40}, {"nut", 60}, {"nail", 7}};
    struct inventory goods = {0};
    for (int i = 0; i < 3; i++)
        add(&goods, &items[i]);
    printf("%d\n", goods.total);
    return 0;
}
