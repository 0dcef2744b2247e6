/* Opens a million objects, and uses them in turn for ever. */
#include <stdio.h>

enum { OBJECTS = 1000000 };

__attribute__((noinline)) void open_object(long object)
{
    __asm__ volatile("" : : "r"(object) : "memory");
}

__attribute__((noinline)) void use_object(long object)
{
    __asm__ volatile("" : : "r"(object) : "memory");
}

int main(void)
{
    for (long object = 0; object < OBJECTS; object++)
        open_object(object);
    puts("all are open");
    fflush(stdout);
    for (;;)
        for (long object = 0; object < OBJECTS; object++)
            use_object(object);
}
