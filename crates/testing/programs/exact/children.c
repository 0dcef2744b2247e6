/* Passes five times, and forks five children that pass as well. */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile long passes;

__attribute__((noinline)) void point(long n)
{
    passes += n;
}

int main(void)
{
    int alive = 0;

    for (int i = 0; i < 5; i++) {
        int status;
        pid_t child = fork();

        if (child == 0) {
            point(1);
            _exit(7);
        }
        alive += waitpid(child, &status, 0) == child && WIFEXITED(status) &&
                 WEXITSTATUS(status) == 7;
        point(1);
    }
    printf("program: %d of 5 children lived\n", alive);
    return 0;
}
