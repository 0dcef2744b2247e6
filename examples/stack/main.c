/* Adds up the numbers below a hundred, ten at a time, by way of a stack. */
#include "stack.h"

#include <stdio.h>

#ifdef FIXED
#define GROUP 10
#else
#define GROUP 9
#endif

/* Takes a group of numbers off; gives their sum. */
static long take_group(struct stack *stack)
{
    long sum = 0;

    for (int i = 0; i < GROUP && !stack_is_empty(stack); i++)
        sum += stack_pop(stack);
    return sum;
}

int main(void)
{
    struct stack *stack = stack_new();
    long sum = 0;

    if (stack == NULL)
        return 1;
    for (int value = 0; value < 100; value++) {
        stack_push(stack, value);
        if (value % 10 == 1)
            sum += take_group(stack);
    }
    sum += take_group(stack);
    printf("sum %ld\n", sum);
    stack_delete(stack);
    return 0;
}
