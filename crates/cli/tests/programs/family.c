// A program, its child and its grandchild: each works a known number of times,
// and ends with another status.
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int count;

__attribute__((noinline)) void work(int depth) {
    count += 1;
    __asm__ volatile("" : : "r"(depth));
}

static int status_of(pid_t child) {
    int status;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

int main(int argc, char **argv) {
    // The first ends after the others, which work until it waits for them.
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    work(0);
    pid_t child = fork();
    if (child == 0) {
        work(1);
        pid_t grandchild = fork();
        if (grandchild == 0) {
            for (int i = 0; i < rounds; i++) work(2);
            _exit(7);
        }
        for (int i = 0; i < rounds; i++) work(1);
        _exit(status_of(grandchild) + 1);
    }
    for (int i = 0; i < rounds; i++) work(0);
    int status = status_of(child);
    work(0);
    printf("%d\n", status);
    return status + 1;
}
