/* Calls that the optimizer puts into their callers, each of which counts itself. */
#include <stdio.h>
#include <stdlib.h>

static volatile unsigned entered_push, entered_twice, entered_rest, entered_digits, entered_deep,
    entered_step;
static int stored[64];
static volatile unsigned used;

static void push(int value)
{
    entered_push++;
    stored[used++ % 64] = value;
}

/* Inlined in an inlined call: both begin at one instruction. */
static void push_twice(int first)
{
    push(first);
    entered_twice++;
    push(first + 1);
}

/* What it decides, some callers know. */
static int rest_of(int value)
{
    entered_rest++;
    if (value < 0)
        return 0;
    return value % 7;
}

/* It begins with a loop. */
static int digits(unsigned number)
{
    int count = 0;
    while (number > 0) {
        number /= 10;
        count++;
    }
    entered_digits++;
    return count;
}

/* Its parameter has another value in its first line. */
static int step(int value)
{
    value = value * 2 + 1;
    entered_step++;
    return stored[value & 63];
}

/* It calls itself, in parts inlined. */
static inline int deep(int depth)
{
    entered_deep++;
    if (depth <= 0)
        return 1;
    int left = deep(depth - 1);
    stored[depth & 63] ^= left;
    int right = deep(depth - 2);
    stored[right & 63]++;
    return left * 3 ^ right;
}

/* It begins with an inlined call. */
__attribute__((noinline)) int outer(int value)
{
    push(value);
    return rest_of(value) + 1;
}

int main(int count, char **arguments)
{
    int rounds = count > 1 ? atoi(arguments[1]) : 10;
    int sum = 0;
    for (int round = 0; round < rounds; round++) {
        push_twice(round);
        sum += outer(round - 2);
        if (round % 3 == 0)
            push(sum);
        else
            sum += rest_of(round - 4);
        sum += digits(round * 37u);
        sum += step(round);
        if (round > 4 && rest_of(sum) > 2)
            sum += deep(round % 4);
    }
    printf("push %u twice %u rest %u digits %u step %u deep %u\n", entered_push, entered_twice,
           entered_rest, entered_digits, entered_step, entered_deep);
    return sum < 0;
}
