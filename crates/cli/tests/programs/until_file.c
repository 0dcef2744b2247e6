/* Says that it runs, and goes on when the file of its argument exists. */
#include <stdio.h>
#include <unistd.h>

static void reached(void)
{
    puts("reached");
}

int main(int argc, char **argv)
{
    puts("running");
    fflush(stdout);
    while (argc > 1 && access(argv[1], F_OK) != 0)
        usleep(1000);
    reached();
    return 0;
}
