/* A call behind which a loop goes back to the second instruction, and one that another call
 * follows; prints how often `work` was called, and the sum of its results. */
#include <stdio.h>

int work(int x);
__asm__(".text\n"
        ".globl work\n.type work,@function\n"
        "work: nopl (%rax)\n lea 1(%rdi),%eax\n ret\n.size work,.-work\n");

/* The sum of (x + 1) + x + ... + 1 for each x from `rounds` to 1. */
long loops(int rounds);
__asm__(".globl loops\n.type loops,@function\n"
        "loops: push %rbx\n push %r12\n push %r13\n mov %edi,%ebx\n xor %r13d,%r13d\n"
        "1: mov %ebx,%edi\n call work\n"
        "mov %rax,%r12\n"
        /* add %r12,%r13: what follows the first byte of the jump leads upwards. */
        "2: .byte 0x4d,0x03,0xec\n"
        "sub $1,%r12\n jnz 2b\n sub $1,%ebx\n jnz 1b\n"
        "mov %r13,%rax\n pop %r13\n pop %r12\n pop %rbx\n ret\n.size loops,.-loops\n");

/* x + 2. */
int calls_twice(int x);
__asm__(".globl calls_twice\n.type calls_twice,@function\n"
        "calls_twice: push %rbx\n call work\n"
        /* lea 0(%rax),%edi, in four bytes. */
        ".byte 0x8d,0x7c,0x20,0x00\n call work\n"
        "nopl (%rax)\n pop %rbx\n ret\n.size calls_twice,.-calls_twice\n");

__attribute__((noinline)) void mark(int i)
{
    __asm__ volatile("" : : "r"(i));
}

int main(void)
{
    long calls = 0, sum = 0;
    for (int i = 0; i < 10; i++) {
        mark(i);
        sum += loops(40);
        calls += 40;
        for (int n = 0; n < 10; n++) {
            sum += calls_twice(n);
            calls += 2;
        }
    }
    printf("truth %ld sum %ld\n", calls, sum);
    return 0;
}
