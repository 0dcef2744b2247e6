/* Calls a function of a library. */
#include <stdio.h>
#include <stdlib.h>

int scale(int n);

int main(void)
{
    int a = scale(4);
    printf("%d\n", a);
    if (a > 3)
        exit(4);
    return 0;
}
