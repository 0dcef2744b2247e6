// Calls at the end of a function, which an optimizer makes jumps.
#include <stdio.h>
#include <stdlib.h>

#ifdef __clang__
#define OWN __attribute__((noinline))
#else
#define OWN __attribute__((noinline, noclone))
#endif

volatile int sink;

OWN int last(int value) {
    sink += value;
    return value + 1;
}

// One way from `start` to `last`.
OWN int middle(int number, int times) {
    sink = number;
    return last(number * times);
}
OWN int start(int number) {
    sink = number;
    return middle(number + 1, 3);
}

// Two ways: by `left` or by `right`, and both through `middle`.
OWN int left(int number) {
    sink = 1;
    return middle(number, 5);
}
OWN int right(int number) {
    sink = 2;
    return middle(number, 7);
}
OWN int either(int number) {
    sink = number;
    return number > 10 ? left(number) : right(number);
}

// The jump is all that it does.
OWN int only(int number) { return middle(number, 2); }

// They jump to each other, any number of times.
OWN int odd(int number);
OWN int even(int number) {
    sink = number;
    return number == 0 ? last(100) : odd(number - 1);
}
OWN int odd(int number) {
    sink = number;
    return number == 0 ? last(200) : even(number - 1);
}

// Nobody knows where it goes.
int (*volatile chosen)(int) = last;
OWN int through(int number) {
    sink = number;
    return chosen(number);
}

// Something of its own was on the stack, and calls before the jump.
OWN int fill(int *numbers) {
    numbers[0] = sink;
    return numbers[0];
}
OWN int local(int number) {
    int kept = number;
    {
        int numbers[4];
        kept += fill(numbers);
    }
    return last(kept);
}

int main(int count, char **words) {
    int sum = start(count);
    sum += either(count + 20);
    sum += only(count);
    sum += even(count + 3);
    sum += through(count);
    sum += local(count);
    printf("%d\n", sum);
    return 0;
}
