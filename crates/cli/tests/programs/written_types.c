/* Types that are made of others, and variables of functions on the stack. */
#include <stddef.h>

struct node {
    int value;
    struct node *next;
};
typedef int (*operation)(int);

static int twice(int n)
{
    return 2 * n;
}

static char *behind(char *text, int by)
{
    return text + by;
}

static int unused(int never)
{
    return never;
}

static int depth(int n, operation call)
{
    int below = n ? depth(n - 1, call) : call(n);
    {
        int inner = below + 1;
        below = inner; // here
    }
    return below;
}

int main(void)
{
    int cells[4] = {1, 2, 3, 4};
    int table[2][3] = {{1, 2, 3}, {4, 5, 6}};
    int *begin = cells;
    int(*row)[3] = table;
    struct node last = {2, NULL}, first = {1, &last};
    struct node *nodes[2] = {&first, &last};
    operation call = twice;
    char text[8] = "text";
    int n = 40;
    return depth(1, call) + *begin + row[1][1] + nodes[0]->value + *behind(text, 1) + unused(n) == 0;
}
