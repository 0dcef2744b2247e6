// Does what can be caught, a known number of times each.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int handled;

static void on_signal(int number) { handled++; }

int main(int argc, char **argv) {
    if (argc > 1)
        return 0;
    signal(SIGUSR1, on_signal);
    for (int i = 0; i < 3; i++)
        syscall(SYS_getppid);
    close(-1);
    for (int i = 0; i < 2; i++) {
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        waitpid(child, 0, 0);
    }
    pid_t child = vfork();
    if (child == 0) {
        execl("/bin/true", "true", (char *)0);
        _exit(9);
    }
    waitpid(child, 0, 0);
    for (int i = 0; i < 4; i++)
        raise(SIGUSR1);
    printf("handled %d\n", handled);
    fflush(stdout);
    execl(argv[0], argv[0], "again", (char *)0);
    return 1;
}
