/* Says again and again that it runs, and never ends by itself. */
#include <stdio.h>

volatile unsigned long spins;

static void spin(void)
{
    for (;;) {
        if (spins % 20000000 == 0)
            puts("running");
        spins++;
    }
}

int main(void)
{
    spin();
    return 0;
}
