/* A little of everything that a person looks at who knows gdb. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

struct point {
    int x;
    double weight;
    const char *name;
};

int counter;
int table[300];

__attribute__((noinline)) static int square(int n)
{
    return n * n;
}

__attribute__((noinline)) static void work(int i, struct point *p)
{
    int s = square(i);
    p->x += s;
    counter += s;
}

int main(int argc, char **argv)
{
    struct point p = { 1, 2.5, "a point" };
    for (int i = 0; i < 300; i++)
        table[i] = i;
    for (int i = 0; i < 5; i++)
        work(i, &p);
    const char *color = getenv("COLOR");
    fprintf(stderr, "to the errors\n");
    printf("%d %s\n", counter, color ? color : "none");
    if (argc > 1)
        raise(atoi(argv[1]));
    return 3;
}
