/* Stores to `watched` 100 times; nine of the stores change it. */
#include <stdio.h>

volatile int watched;

int main(void)
{
    int changes = 0;

    for (int i = 0; i < 100; i++) {
        int before = watched;

        watched = i / 11;
        changes += watched != before;
    }
    printf("program: %d changes\n", changes);
    return 0;
}
