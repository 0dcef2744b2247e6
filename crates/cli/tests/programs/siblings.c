// Four processes that work until they are ended; the last one says so.
#include <stdio.h>
#include <unistd.h>

__attribute__((noinline)) void work(volatile int *count) { ++*count; }

int main(void) {
    volatile int count = 0;
    int number = fork() ? 0 : 1;
    number += fork() ? 0 : 2;
    alarm(200);
    for (;;) {
        work(&count);
        usleep(1000);
        if (number == 3 && count % 100 == 0) write(1, "working\n", 8);
    }
}
