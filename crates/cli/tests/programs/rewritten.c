/* Makes code as it runs: writes other functions over one another, and another number
   into one that stays. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

typedef int (*function)(int);

/* lea 1(%rdi),%eax; ret */
static const unsigned char plus_one[] = {0x8d, 0x47, 0x01, 0xc3};
/* nop; lea 2(%rdi),%eax; ret */
static const unsigned char plus_two[] = {0x90, 0x8d, 0x47, 0x02, 0xc3};
/* add $0,%edi; mov %edi,%eax; ret */
static const unsigned char plus_number[] = {0x83, 0xc7, 0x00, 0x89, 0xf8, 0xc3};

static unsigned char *page;

__attribute__((noinline)) static void is_written(int round)
{
    (void)round;
}

int main(void)
{
    void *place = (void *)0x10000000;
    int access = PROT_READ | PROT_WRITE | PROT_EXEC;
    page = mmap(place, 4096, access, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    int sum = 0;
    for (int round = 0; round < 4; round++) {
        if (round % 2 == 0)
            memcpy(page, plus_one, sizeof plus_one);
        else
            memcpy(page, plus_two, sizeof plus_two);
        is_written(round);
        sum += ((function)page)(round);
    }
    printf("sum %d, first byte %x\n", sum, page[0]);
    memcpy(page + 64, plus_number, sizeof plus_number);
    is_written(4);
    sum = 0;
    for (int number = 0; number < 100; number++) {
        page[64 + 2] = (unsigned char)number;
        sum += ((function)(page + 64))(0);
    }
    printf("numbers %d\n", sum);
    return 0;
}
