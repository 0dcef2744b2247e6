/* Calls that are inlined: into a call that is inlined, at the entry of a function. */
#include <stdio.h>
#include <stdlib.h>

static inline __attribute__((always_inline)) int square(int side)
{
    int area = side * side;
    if (area > 40)
        printf("large %d\n", area);
    return area;
}

static inline __attribute__((always_inline)) int both(int first, int second)
{
    int sum = square(first);
    sum += square(second);
    return sum;
}

__attribute__((noinline)) int at_entry(int value)
{
    return square(value) + 1;
}

__attribute__((noinline)) int start(int count)
{
    int given = count + 4;
    int total = both(given, count + 1);
    total += at_entry(total);
    printf("%d\n", total);
    return square(total) > 5 ? 0 : 1;
}

int main(void)
{
    volatile int one = 1;
    return start(one) + 1 > 0 ? 0 : 1;
}
