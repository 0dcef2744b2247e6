// Forks children that run the watched function too, and one that executes
// another program. The events of the parent alone count.
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int calls;

__attribute__((noinline)) void tick(int n) {
    calls += n;
    __asm__ volatile("");
}

int main(void) {
    int failed = 0;
    for (int i = 0; i < 3; i++) {
        tick(1);
        pid_t child = fork();
        if (child == 0) {
            tick(1);
            _exit(calls == i + 2 ? 0 : 1);
        }
        int status;
        waitpid(child, &status, 0);
        failed += status != 0;
    }
    pid_t child = vfork();
    if (child == 0) {
        execl("/bin/true", "true", (char *)0);
        _exit(9);
    }
    int status;
    waitpid(child, &status, 0);
    failed += status != 0;
    failed += system("exit 3") >> 8 != 3;
    tick(1);
    printf("calls %d failed %d\n", calls, failed);
    return failed;
}
