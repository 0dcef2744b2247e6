/* Runs until it is ended, calling a function again and again. */
#include <stdio.h>
#include <unistd.h>

static volatile unsigned long turns;

static void turn(void)
{
    if (turns == 0)
        printf("spinning\n");
    fflush(stdout);
    turns++;
}

int main(void)
{
    for (;;) {
        turn();
        usleep(1000);
    }
}
