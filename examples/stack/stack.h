/* A stack of numbers that grows as it must. */
#ifndef STACK_H
#define STACK_H

#include <stdbool.h>

struct stack;

struct stack *stack_new(void);
void stack_push(struct stack *stack, int value);
int stack_pop(struct stack *stack);
bool stack_is_empty(const struct stack *stack);
void stack_delete(struct stack *stack);

#endif
