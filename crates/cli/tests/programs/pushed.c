/* Calls of a function whose first instructions are of one byte, and have an effect each time
 * they are executed, as are those to which its call returns. Prints how often it was called, and
 * the sum of its results. With LAST, an instruction of one byte is the last that a jump of five
 * bytes replaces. */
#include <stdio.h>

#ifdef LAST
#define SAVE "push %r12\n push %r13\n push %rbx\n"
#define RESTORE "pop %rbx\n pop %r13\n pop %r12\n"
#else
#define SAVE "push %rbp\n push %rbx\n push %r12\n"
#define RESTORE "pop %r12\n pop %rbx\n pop %rbp\n"
#endif

int pass(int x);
__asm__(".text\n"
        ".globl work\n.type work,@function\n"
        "work: " SAVE " lea 1(%rdi),%eax\n " RESTORE " ret\n"
        ".size work,.-work\n"
        ".globl pass\n.type pass,@function\n"
        "pass: " SAVE " call work\n " RESTORE " ret\n"
        ".size pass,.-pass\n");

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
        sum += pass(i);
    }
    printf("truth %ld %ld sum %ld\n", calls, calls, sum);
    return 0;
}
