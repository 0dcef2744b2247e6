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

int main(int argc, char **argv __attribute__((unused)))
{
    int given = argc + 4;
    int total = both(given, argc + 1);
    total += at_entry(total);
    printf("%d\n", total);
    return square(total) > 5 ? 0 : 1;
}
