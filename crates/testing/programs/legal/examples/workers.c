/* Connections that every process closes, whichever way it ends. */
#define _GNU_SOURCE
#include "connection.h"
#include "use.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void opened_and_closed(void)
{
    for (int i = 0; i < 3; i++)
        connection_close(connection_open());
}

static void two_at_once(void)
{
    int first = connection_open();
    int second = connection_open();

    connection_close(first);
    connection_close(second);
}

static void what_was_never_opened(void)
{
    connection_close(0);
    connection_close(-1);
    connection_close(-1);
}

static void both_close_it(void)
{
    int connection = connection_open();
    pid_t child = fork();

    connection_close(connection);
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
}

static void closed_before_the_fork(void)
{
    connection_close(connection_open());
    pid_t child = fork();

    if (child == 0)
        exit(0);
    waitpid(child, NULL, 0);
}

static void the_child_opens_its_own(void)
{
    pid_t child = fork();

    if (child == 0) {
        connection_close(connection_open());
        _exit(0);
    }
    waitpid(child, NULL, 0);
    connection_close(connection_open());
}

static void a_child_of_a_child(void)
{
    int connection = connection_open();
    pid_t child = fork();

    if (child == 0) {
        pid_t grandchild = fork();

        connection_close(connection);
        if (grandchild > 0)
            waitpid(grandchild, NULL, 0);
        _exit(0);
    }
    connection_close(connection);
    waitpid(child, NULL, 0);
}

static void *open_and_close(void *unused)
{
    connection_close(connection_open());
    return unused;
}

static void a_thread_serves(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, open_and_close, NULL);
    pthread_join(thread, NULL);
}

static int handled;

static void close_in_handler(int signal)
{
    (void)signal;
    connection_close(handled);
}

static void a_handler_closes_it(void)
{
    handled = connection_open();
    signal(SIGUSR1, close_in_handler);
    raise(SIGUSR1);
}

static void the_end_after_the_last_one(void)
{
    connection_close(connection_open());
    exit(0);
}

int main(void)
{
    USE(opened_and_closed);
    USE(two_at_once);
    USE(what_was_never_opened);
    USE(both_close_it);
    USE(closed_before_the_fork);
    USE(the_child_opens_its_own);
    USE(a_child_of_a_child);
    USE(a_thread_serves);
    USE(a_handler_closes_it);
    LAST_USE(the_end_after_the_last_one);
}
