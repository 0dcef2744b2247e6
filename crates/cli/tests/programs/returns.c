// Calls that end in every way: return, recursion, tail call, longjmp.
// Prints how often `work` was entered and how often it returned.
#include <setjmp.h>
#include <stdio.h>

static jmp_buf place;
static long entered, returned;

__attribute__((noinline)) int leaf(int n) {
    __asm__ volatile("");
    return n + 1;
}

// Recursion through one call site.
__attribute__((noinline)) int work(int n) {
    entered++;
    int result = n <= 0 ? 0 : work(n - 1) + 1;
    __asm__ volatile("" : "+r"(result));
    returned++;
    return result;
}

// With -O2 a jump, not a call.
__attribute__((noinline)) int tail(int n) {
    __asm__ volatile("");
    return work(n);
}

// Never returns: jumps out.
__attribute__((noinline)) int escape(int n) {
    entered++;
    if (n > 0)
        escape(n - 1);
    longjmp(place, 1);
}

__attribute__((noinline)) static int through(int (*function)(int), int n) {
    int result = function(n);
    __asm__ volatile("" : "+r"(result));
    return result;
}

int main(void) {
    int total = 0;
    for (int i = 0; i < 3; i++)
        total += work(i);
    total += tail(2);
    for (int i = 0; i < 3; i++) {
        // The same call site is left by longjmp, then used by another function.
        if (setjmp(place) == 0)
            total += through(escape, i);
        else
            total += through(leaf, i);
    }
    printf("entered %ld returned %ld total %d\n", entered, returned, total);
    return 0;
}
