/* A function that is left by a jump. */
#include <setjmp.h>
#include <stdio.h>

static jmp_buf back;

static void jump(int value)
{
    if (value > 2)
        longjmp(back, value);
    puts("no jump");
}

static void inner(void)
{
    jmp_buf kept;
    if (setjmp(kept) == 0)
        longjmp(kept, 1);
}

int main(void)
{
    if (setjmp(back) == 0) {
        inner();
        jump(1);
        jump(3);
        puts("not reached");
    } else {
        puts("jumped");
    }
    return 0;
}
