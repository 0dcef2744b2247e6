#include "stack.h"

#include <stdlib.h>

struct stack {
    int *values;
    int count;
    int room;
};

struct stack *stack_new(void)
{
    return calloc(1, sizeof(struct stack));
}

void stack_push(struct stack *stack, int value)
{
    if (stack->count == stack->room) {
        int room = stack->room == 0 ? 4 : stack->room * 2;
        int *values = realloc(stack->values, (size_t)room * sizeof *values);
        if (values == NULL)
            abort();
        stack->values = values;
        stack->room = room;
    }
    stack->values[stack->count++] = value;
}

int stack_pop(struct stack *stack)
{
    return stack->values[--stack->count];
}

bool stack_is_empty(const struct stack *stack)
{
    return stack->count == 0;
}

void stack_delete(struct stack *stack)
{
    free(stack->values);
    free(stack);
}
