/* Calls of a function whose first instructions are short; prints how often it was called, and
 * the sum of its results. */
#include <stdio.h>

int work(int x);
__asm__(".text\n"
        ".globl work\n.type work,@function\n"
        "work: nopl (%rax)\n nop\n lea 1(%rdi),%eax\n ret\n.size work,.-work\n");

__attribute__((noinline)) void mark(int i)
{
    __asm__ volatile("" : : "r"(i));
}

int main(void)
{
    long calls = 0, sum = 0;
    for (int i = 0; i < 100; i++) {
        if (i % 10 == 0)
            mark(i);
        calls++;
        sum += work(i);
    }
    printf("truth %ld %ld sum %ld\n", calls, calls, sum);
    return 0;
}
