/* Fills boxes through a pointer, and prints how often it did. With an argument, one pointer
 * is bad. */
#include <stdio.h>

struct box {
    long number;
    struct box *next;
    short level;
    char flag;
};

__attribute__((noinline)) int fill(struct box *box, long number)
{
    __asm__ volatile("" ::: "memory");
    if ((unsigned long)box < 4096)
        return -1;
    box->number = number;
    box->next = box;
    box->level = (short)-number;
    box->flag = number % 2 != 0;
    return (int)(number % 7);
}

/* The pointer is clobbered before the return. */
__attribute__((noinline)) int allocate(struct box **out, long number)
{
    static struct box boxes[8];
    struct box *box = &boxes[number % 8];
    int result = fill(box, number);
    *out = box;
    out = 0;
    __asm__ volatile("" : "+r"(out));
    return result;
}

int main(int argc, char **argv)
{
    struct box *box = 0;
    long calls = 0, sum = 0;
    (void)argv;
    for (long i = 0; i < 400; i++) {
        sum += allocate(&box, i);
        sum += box->number;
        calls++;
        if (argc > 1 && i == 200)
            sum += fill((struct box *)64, i);
    }
    printf("truth %ld sum %ld\n", calls, sum);
    return 0;
}
