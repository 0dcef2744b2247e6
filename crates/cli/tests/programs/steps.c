/* Calls, loops and recursion to step through. */
#include <stdio.h>

static int factorial(int n)
{
    if (n <= 1)
        return 1;
    int rest = factorial(n - 1);
    return n * rest;
}

static double half(int x)
{
    return x / 2.0;
}

int main(void)
{
    int sum = 0;
    for (int i = 0; i < 5; i++) {
        sum += i;
    }
    int product = factorial(4);
    double middle = half(7);
    printf("%d %d %.1f\n", sum, product, middle);
    return 3;
}
