/* The point is on one `rep stosb` that fills 50 bytes. */
#include "point.h"
#include <stdio.h>

void fill(char *bytes);

__asm__(".globl fill\n.type fill,@function\n"
        "fill: mov $50, %ecx\n"
        "mov $1, %eax\n"
        POINT "rep stosb\n"
        "ret\n"
        POINT_END);

int main(void)
{
    static char bytes[64];
    int filled = 0;

    fill(bytes);
    for (int i = 0; i < 64; i++)
        filled += bytes[i];
    printf("program: %d bytes\n", filled);
    return 0;
}
