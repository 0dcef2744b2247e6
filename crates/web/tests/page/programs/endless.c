/* Counts until it is interrupted. */
#include <stdio.h>
#include <unistd.h>

static volatile long count;

static void tick(void)
{
    count++;
    usleep(1000);
}

int main(void)
{
    printf("counting\n");
    fflush(stdout);
    for (;;)
        tick();
}
