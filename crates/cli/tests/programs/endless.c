/* Says that it runs, and never ends by itself. */
#include <stdio.h>
#include <unistd.h>

volatile long spins;

int main(void)
{
    char line[64];
    puts("running");
    fflush(stdout);
    for (;;) {
        spins++;
        if (spins < 0 && fgets(line, sizeof line, stdin) == NULL)
            return 1;
    }
}
