/* Pushes numbers, and says how many there were and how many of them were large. */
#include <stdio.h>

struct count {
    int pushed, large;
    char name[8];
};

static struct count count = {0, 0, "pushes"};

static void push(int key)
{
    count.pushed++;
    if (key > 17)
        count.large++;
}

int main(void)
{
    for (int key = 0; key < 20; key++)
        push(key);
    printf("pushed %d, large %d\n", count.pushed, count.large);
    return count.large;
}
