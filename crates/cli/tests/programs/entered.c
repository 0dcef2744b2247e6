// Arguments that are nowhere any more, but whose callers still know them.
#include <stdio.h>

volatile int sink;

__attribute__((noipa)) void last(int value) { sink = value; }

// Its arguments are dead when it calls.
__attribute__((noipa)) int inner(int first, long second, const char *third) {
    int sum = first + (int)second + third[0];
    last(sum);
    last(sum + 1);
    return sum;
}

__attribute__((noipa)) int outer(int number) {
    int before = number * 3;
    int sum = inner(7, before, "abc");
    last(before);
    return sum;
}

// Each comes to its beginning by jumps, too: what `main` passed is no argument any more.
__attribute__((noipa)) int ping(int count, int kept);
__attribute__((noipa)) int pong(int count, int kept) {
    last(count);
    return count == 0 ? (last(-2), 5) : ping(count - 1, kept + 1);
}
__attribute__((noipa)) int ping(int count, int kept) {
    last(count);
    return count == 0 ? (last(-3), 6) : pong(count - 1, kept + 1);
}

// Through a pointer.
int (*volatile chosen)(int) = outer;

int main(void) {
    int sum = outer(5) + chosen(6) + ping(2, 50);
    last(sum);
    printf("%d\n", sum);
    return 0;
}
