/* Variables that optimized code keeps in registers: over calls, through a jump
   back into the frame, and in memory for a while. Ends with 0. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

volatile int passes;
static jmp_buf place;

__attribute__((noinline)) int triple(int x) {
    passes++;
    __asm__ volatile("" : "+r"(x));
    return x * 3;
}

__attribute__((noinline)) int total(int n) {
    int sum = 0;
    for (int i = 1; i <= n; i++)
        sum += triple(i);
    return sum;
}

__attribute__((noinline)) void store(int *to, int value) {
    passes++;
    *to = value;
    __asm__ volatile("" ::: "memory");
}

/* Its address is taken, so it is in memory over the call. */
__attribute__((noinline)) int spilled(int n) {
    int kept = n;
    store(&kept, n + 5);
    kept += triple(kept);
    return kept;
}

__attribute__((noinline)) void leave(int n) {
    passes++;
    if (n > 2)
        longjmp(place, n);
}

/* Comes back by a jump, not by a return. */
__attribute__((noinline)) int jumped(int n) {
    int volatile tries = 0;
    int got = setjmp(place);
    tries++;
    if (got == 0)
        leave(n);
    return tries + got;
}

/* In a register all the time. */
__attribute__((noinline)) int counted(int n) {
    int kept = n;
    __asm__ volatile("" : "+r"(kept));
    for (int i = 0; i < 4; i++)
        __asm__ volatile("test %0, %0" : : "r"(kept) : "cc"); /* four reads */
    for (int i = 0; i < 3; i++)
        __asm__ volatile("add $1, %0" : "+r"(kept) : : "cc"); /* three stores */
    return kept;
}

/* Stored to, but not changed, and then changed. */
__attribute__((noinline)) int rewritten(int n) {
    int kept = n;
    __asm__ volatile("" : "+r"(kept));
    for (int i = 0; i < 4; i++)
        __asm__ volatile("or $0, %0" : "+r"(kept) : : "cc"); /* four same values */
    __asm__ volatile("add $1, %0" : "+r"(kept) : : "cc"); /* one change */
    __asm__ volatile("test %0, %0" : : "r"(kept) : "cc");
    return kept;
}

int main(int argc, char **argv) {
    int a = total(5);
    int b = spilled(3);
    int c = jumped(4);
    int d = counted(2);
    int e = rewritten(2);
    printf("%d %d %d %d %d\n", a, b, c, d, e);
    return a != 45 || b != 32 || c != 6 || d != 5 || e != 3;
}
