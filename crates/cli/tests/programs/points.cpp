// A template in two copies, and a function that is called often.
#include <stdio.h>

struct Counter {
    int total;
    const char *name;
};

static Counter counter = {0, "main"};

template <typename T> static T twice(T x)
{
    return x + x;
}

static void tick(int n, Counter *c)
{
    c->total += n;
}

int main()
{
    int four = twice(2);
    double five = twice(2.5);
    printf("%d %.1f\n", four, five);
    for (int i = 0; i < 10; i++)
        tick(i, &counter);
    printf("%d\n", counter.total);
    return 0;
}
