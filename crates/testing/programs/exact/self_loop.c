/* The point is on a `loop` that branches to itself: it executes 50 times. */
#include "point.h"
#include <stdio.h>

long rounds_left(void);

__asm__(".globl rounds_left\n.type rounds_left,@function\n"
        "rounds_left: mov $50, %ecx\n"
        POINT "loop point\n"
        "mov %rcx, %rax\n"
        "ret\n"
        POINT_END);

int main(void)
{
    printf("program: %ld rounds left\n", rounds_left());
    return 0;
}
