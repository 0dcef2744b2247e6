/* Clients that get their own answers, in every order. */
#include "use.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) void client_received(int asked, int answered)
{
    __asm__ volatile("" : : "r"(asked), "r"(answered));
}

static void one_client(void)
{
    for (int i = 0; i < 10; i++)
        client_received(0, 0);
}

static void two_by_turns(void)
{
    for (int i = 0; i < 10; i++)
        client_received(i % 2, i % 2);
}

static void two_one_after_the_other(void)
{
    for (int i = 0; i < 10; i++)
        client_received(i / 5, i / 5);
}

static void many_numbers(void)
{
    for (int i = -20; i < 20; i++)
        client_received(i, i);
}

static void deeper(int depth)
{
    client_received(depth % 2, depth % 2);
    if (depth > 0)
        deeper(depth - 1);
    client_received(depth % 2, depth % 2);
}

static void one_in_each_call(void)
{
    deeper(10);
}

static void *receive(void *argument)
{
    int asked = *(int *)argument;

    for (int i = 0; i < 100; i++)
        client_received(asked, asked);
    return NULL;
}

static void one_in_each_thread(void)
{
    int asked[4] = {0, 1, 0, 1};
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, receive, &asked[i]);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

static void threads_that_exchange_their_numbers(void)
{
    int asked = 0;
    pthread_t thread;

    for (int i = 0; i < 4; i++) {
        asked = i % 2;
        pthread_create(&thread, NULL, receive, &asked);
        pthread_join(thread, NULL);
        client_received(1 - asked, 1 - asked);
    }
}

static void the_child_is_another_client(void)
{
    pid_t child = fork();

    client_received(child == 0, child == 0);
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
}

static void the_end_without_an_answer(void)
{
    exit(0);
}

int main(void)
{
    USE(one_client);
    USE(two_by_turns);
    USE(two_one_after_the_other);
    USE(many_numbers);
    USE(one_in_each_call);
    USE(one_in_each_thread);
    USE(threads_that_exchange_their_numbers);
    USE(the_child_is_another_client);
    LAST_USE(the_end_without_an_answer);
}
