// Dies of a signal, or not, as its argument says.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile int *nowhere;
static int handled;

static void on_signal(int number) { handled += number; }

__attribute__((noinline)) int fault(int n) { return *nowhere + n; }

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "segv";
    signal(SIGUSR1, on_signal);
    raise(SIGUSR1);
    printf("handled %d\n", handled == SIGUSR1);
    fflush(stdout);
    if (!strcmp(how, "segv"))
        return fault(3);
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "term"))
        raise(SIGTERM);
    return atoi(how);
}
