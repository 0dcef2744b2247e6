#include <stdarg.h>
#include <stdio.h>

struct pair {
    double x;
    long n;
};

struct large {
    long all[5];
};

volatile int made[5];
int (*volatile weigh_next)(int, long, double);
int (*volatile lose_next)(int, long);

#define KEEP __attribute__((noinline))

KEEP int bottom(long sum, float share)
{
    made[0]++; /* mark: bottom */
    return (int)(sum * share);
}

/* Uses its arguments after the call. */
KEEP int weigh(int n, long sum, double part)
{
    made[1]++;
    if (n == 0)
        return bottom(sum, 0.5f) + n;
    int inner = weigh_next(n - 1, sum + n, part / 2);
    return inner + n + (int)(sum % 7) + (int)part; /* mark: inner */
}

/* Does not. */
KEEP int lose(int n, long sum)
{
    made[2]++;
    if (n == 0)
        return bottom(sum, 0.25f) + 1;
    return lose_next(n - 1, sum + n) + 1;
}

KEEP struct large fill(struct pair p, const char *name, struct large given)
{
    struct large result = given;
    made[3]++; /* mark: fill */
    result.all[0] = (long)p.x + p.n;
    result.all[1] = name[0];
    return result;
}

KEEP int count(int n, ...)
{
    va_list all;
    int sum = 0;
    va_start(all, n);
    for (int i = 0; i < n; i++)
        sum += va_arg(all, int);
    va_end(all);
    made[4]++; /* mark: count */
    return sum;
}

static inline __attribute__((always_inline)) int twice(int n)
{
    made[4]++; /* mark: twice */
    return 2 * n;
}

int main(void)
{
    weigh_next = weigh;
    lose_next = lose;
    int weighed = weigh(3, 10, 8.5);
    struct pair p = {2.5, 7};
    struct large given = {{1, 2, 3, 4, 5}};
    struct large filled = fill(p, "filled", given);
    int counted = count(3, 1, 2, 3);
    int doubled = twice(made[0]);
    int lost = lose(2, 8);
    printf("%d %ld %ld %ld %d %d %d\n", weighed, filled.all[0], filled.all[1], filled.all[4], counted,
           doubled, lost);
    printf("%d %d %d %d %d\n", made[0], made[1], made[2], made[3], made[4]);
    return 0;
}
