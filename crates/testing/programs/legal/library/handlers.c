/* Files and mutexes while signals arrive, and between processes that are made and end. */
#define _GNU_SOURCE
#include "use.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void open_and_close(int signal)
{
    (void)signal;
    close(open("/dev/null", O_RDONLY));
}

static void a_handler_opens_a_file(void)
{
    signal(SIGUSR1, open_and_close);
    for (int i = 0; i < 50; i++) {
        int file = open("/dev/null", O_RDONLY);

        raise(SIGUSR1);
        close(file);
    }
}

static sigjmp_buf back;

static void jump(int signal)
{
    (void)signal;
    siglongjmp(back, 1);
}

static void a_handler_jumps(void)
{
    void *volatile block = malloc(40);

    signal(SIGUSR2, jump);
    if (sigsetjmp(back, 1) == 0)
        raise(SIGUSR2);
    free(block);
}

static void *open_many(void *argument)
{
    for (int i = 0; i < 50; i++)
        close(open("/dev/null", O_RDONLY));
    return argument;
}

static void threads_are_interrupted(void)
{
    pthread_t threads[2];

    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, open_many, NULL);
    for (int i = 0; i < 50; i++)
        kill(getpid(), SIGUSR1);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

static void a_child_in_the_same_memory(void)
{
    pid_t child = vfork();

    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
}

static void a_spawned_program(void)
{
    char *arguments[] = {"true", NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 7, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addclose(&actions, 7);
    if (posix_spawn(&child, "/bin/true", &actions, NULL, arguments, environ) == 0)
        waitpid(child, NULL, 0);
    posix_spawn_file_actions_destroy(&actions);
    if (system("exit 0") != 0)
        abort();
}

static void a_library_comes_and_goes(void)
{
    for (int i = 0; i < 3; i++) {
        void *library = dlopen("libm.so.6", RTLD_NOW);

        if (library != NULL)
            dlclose(library);
    }
}

static void a_child_is_killed(void)
{
    pid_t child = fork();

    if (child == 0) {
        free(malloc(10));
        abort();
    }
    waitpid(child, NULL, 0);
}

int main(void)
{
    USE(a_handler_opens_a_file);
    USE(a_handler_jumps);
    USE(threads_are_interrupted);
    USE(a_child_in_the_same_memory);
    USE(a_spawned_program);
    USE(a_library_comes_and_goes);
    USE(a_child_is_killed);
    return end_of_uses();
}
