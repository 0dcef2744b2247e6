// Three phases: only in the second one the ticks matter. Prints how often it
// ticked in each.
#include <stdio.h>

static int ticks;

__attribute__((noinline)) int tick(int n) {
    ticks++;
    __asm__ volatile("" ::: "memory");
    return n;
}
__attribute__((noinline)) void open_phase(int n) { __asm__ volatile("" ::"r"(n) : "memory"); }
__attribute__((noinline)) void close_phase(void) { __asm__ volatile("" ::: "memory"); }

static int tick_times(int count) {
    int before = ticks;
    for (int i = 0; i < count; i++)
        tick(i);
    return ticks - before;
}

int main(void) {
    int before = tick_times(1000);
    open_phase(1);
    int between = tick_times(7);
    close_phase();
    int after = tick_times(1000);
    open_phase(2);
    between += tick_times(5);
    close_phase();
    printf("before %d between %d after %d\n", before, between, after);
    return 0;
}
