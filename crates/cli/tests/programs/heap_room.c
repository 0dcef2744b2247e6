/* Calls a function, and then extends the heap by brk(2) as far as 900 MiB. Prints how often the
 * function was called, and the size of the heap. */
#include <stdio.h>
#include <unistd.h>

enum { STEPS = 900, STEP_SIZE = 1 << 20 };

__attribute__((noinline)) long work(long x)
{
    __asm__ volatile("" : "+r"(x));
    return x + 1;
}

int main(void)
{
    long sum = 0, steps = 0;

    for (int i = 0; i < 100; i++)
        sum += work(i);
    while (steps < STEPS && sbrk(STEP_SIZE) != (void *)-1)
        steps++;
    printf("sum %ld heap %ld MiB\n", sum, steps);
    return 0;
}
