/* Values that are in registers most of the time. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static long total;
static double price = 2.5;
static double cost;

__attribute__((noinline)) static long scaled(long number, long by) {
    return number * by;
}

__attribute__((noinline)) static void add(long number) {
    total = total + scaled(number, 3);
    cost = price * (double)number;
}

__attribute__((noinline)) static void done(long number) {
    __asm__ volatile("" : : "r"(number) : "memory");
}

int main(int count, char **arguments) {
    char digits[4] = {0};
    read(0, digits, 3);
    long number = atol(digits);
    add(number);
    add(count);
    done(total);
    printf("%ld %f\n", total, cost);
    return 0;
}
