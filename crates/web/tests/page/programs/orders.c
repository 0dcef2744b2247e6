#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct order { char *name; int count; };

static struct order *order_new(const char *name, int count)
{
    struct order *order = malloc(sizeof *order);
    order->name = strdup(name);
    order->count = count;
    return order;
}

static void order_cancel(struct order *order)
{
    free(order->name);
    order->count = 0;
}

static void order_delete(struct order *order)
{
    free(order->name);
    free(order);
}

int main(void)
{
    struct order *tea = order_new("tea", 2);
    struct order *ham = order_new("ham", 1);
    printf("%s and %s\n", tea->name, ham->name);
    order_cancel(ham);
    order_delete(tea);
    order_delete(ham);
    return 0;
}
