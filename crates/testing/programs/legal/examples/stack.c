/* Stacks where 42 comes and goes. */
#include "stack.h"
#include "use.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void empty(struct stack *stack)
{
    while (!stack_is_empty(stack))
        stack_pop(stack);
    stack_delete(stack);
}

static void nothing_is_pushed(void)
{
    stack_delete(stack_new());
}

static void other_numbers(void)
{
    struct stack *stack = stack_new();

    stack_push(stack, 41);
    stack_push(stack, -42);
    /* These may stay. */
    stack_delete(stack);
}

static void in_and_out_again_and_again(void)
{
    struct stack *stack = stack_new();

    for (int i = 0; i < 10; i++) {
        stack_push(stack, 42);
        stack_pop(stack);
    }
    stack_delete(stack);
}

static void twice_at_once(void)
{
    struct stack *stack = stack_new();

    stack_push(stack, 42);
    stack_push(stack, 42);
    empty(stack);
}

static void beneath_many(void)
{
    struct stack *stack = stack_new();

    for (int value = 42; value < 500; value++)
        stack_push(stack, value);
    empty(stack);
}

static void from_one_to_the_other(void)
{
    struct stack *first = stack_new();
    struct stack *second = stack_new();

    stack_push(first, 42);
    for (int i = 0; i < 5; i++) {
        stack_push(second, stack_pop(first));
        stack_push(first, stack_pop(second));
    }
    empty(first);
    empty(second);
}

static void one_address_again_and_again(void)
{
    for (int i = 0; i < 5; i++) {
        struct stack *stack = stack_new();

        stack_push(stack, 42);
        empty(stack);
    }
}

static void deeper(struct stack *stack, int depth)
{
    stack_push(stack, 42 + depth % 2);
    if (depth > 0)
        deeper(stack, depth - 1);
    stack_pop(stack);
}

static void a_level_for_each_call(void)
{
    struct stack *stack = stack_new();

    deeper(stack, 10);
    stack_delete(stack);
}

static void *use_own(void *unused)
{
    for (int i = 0; i < 20; i++) {
        struct stack *stack = stack_new();

        stack_push(stack, 42);
        stack_push(stack, i);
        empty(stack);
    }
    return unused;
}

static void one_in_each_thread(void)
{
    pthread_t threads[3];

    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, use_own, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}

static void the_child_leaves_it_there(void)
{
    struct stack *stack = stack_new();

    stack_push(stack, 42);
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    empty(stack);
}

static void left_by_a_jump(void)
{
    jmp_buf back;
    struct stack *stack = stack_new();

    if (setjmp(back) == 0) {
        stack_push(stack, 42);
        longjmp(back, 1);
    }
    empty(stack);
}

static void never_deleted(void)
{
    struct stack *stack = stack_new();

    stack_push(stack, 42);
    stack_pop(stack);
    exit(0);
}

int main(void)
{
    USE(nothing_is_pushed);
    USE(other_numbers);
    USE(in_and_out_again_and_again);
    USE(twice_at_once);
    USE(beneath_many);
    USE(from_one_to_the_other);
    USE(one_address_again_and_again);
    USE(a_level_for_each_call);
    USE(one_in_each_thread);
    USE(the_child_leaves_it_there);
    USE(left_by_a_jump);
    LAST_USE(never_deleted);
}
