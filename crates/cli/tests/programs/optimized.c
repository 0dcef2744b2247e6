/* A call that is inlined, and one that is not. */
#include <stdio.h>

static inline __attribute__((always_inline)) int twice(int n)
{
    int doubled = n + n;
    return doubled ^ 1;
}

__attribute__((noinline)) static int sum(const int *numbers, int count)
{
    int total = 0;
    for (int i = 0; i < count; i++)
        total += twice(numbers[i]);
    return total;
}

int main(void)
{
    volatile int one = 1;
    int numbers[3] = { one, one + 1, one + 2 };
    int total = sum(numbers, 3);
    printf("%d\n", total);
    return 0;
}
