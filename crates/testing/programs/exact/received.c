/* The kernel writes `watched`, once: read(2) puts four bytes there. */
#include <stdio.h>
#include <unistd.h>

volatile int watched;

int main(void)
{
    int ends[2], value = 7;
    ssize_t count;

    if (pipe(ends) != 0 || write(ends[1], &value, sizeof value) < 0)
        return 1;
    count = read(ends[0], (void *)&watched, sizeof watched);
    printf("program: %d bytes received\n", (int)count);
    return 0;
}
