/* Says that it is ready, works for each line of its input, tells how often. */
#include <stdio.h>
#include <unistd.h>

static int served;

__attribute__((noinline)) int serve(int request)
{
    served++;
    return request + 1;
}

int main(void)
{
    char line[16];
    puts("ready");
    fflush(stdout);
    while (read(0, line, 1) == 1)
        serve(line[0]);
    printf("served %d\n", served);
    return 3;
}
