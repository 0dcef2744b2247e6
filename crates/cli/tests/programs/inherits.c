// Things are opened before a fork, and closed by both processes after it: by
// the child twice, or not at all; or by a program that the child becomes.
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) void begin(int thing) { __asm__ volatile("" : : "r"(thing)); }
__attribute__((noinline)) void end(int thing) { __asm__ volatile("" : : "r"(thing)); }

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "once";
    if (!strcmp(what, "other")) {
        begin(3);
        end(3);
        return 4;
    }
    begin(1);
    begin(2);
    int is_vfork = !strcmp(what, "vfork");
    pid_t child = is_vfork ? vfork() : fork();
    if (child == 0) {
        if (is_vfork || !strcmp(what, "exec")) {
            execl(argv[0], argv[0], "other", (char *)0);
            _exit(9);
        }
        if (!strcmp(what, "never")) _exit(3);
        if (!strcmp(what, "twice")) end(2);
        end(1);
        end(2);
        _exit(3);
    }
    end(1);
    end(2);
    int status;
    waitpid(child, &status, 0);
    return 0;
}
