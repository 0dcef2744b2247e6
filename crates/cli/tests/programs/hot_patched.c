/* Replaces a function by a jump to another one, as libraries for patches at run time do:
   after ten calls by the word `patch`, never by another. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

__attribute__((noinline, noclone)) static long tick(long round)
{
    __asm__ volatile("" : "+r"(round));
    return round + 1;
}

__attribute__((noinline, noclone)) static long tock(long round)
{
    __asm__ volatile("" : "+r"(round));
    return round + 2;
}

__attribute__((noinline)) static void is_patched(void)
{
    __asm__ volatile("");
}

static void replace(void *old, void *new)
{
    unsigned char jump[5] = {0xe9};
    int distance = (int)((char *)new - ((char *)old + sizeof jump));
    memcpy(jump + 1, &distance, sizeof distance);
    void *page = (void *)((unsigned long)old & ~4095UL);
    mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
    memcpy(old, jump, sizeof jump);
    mprotect(page, 8192, PROT_READ | PROT_EXEC);
}

int main(int count, char **words)
{
    long sum = 0;
    for (int round = 0; round < 10; round++)
        sum += tick(round);
    if (count > 1 && strcmp(words[1], "patch") == 0)
        replace((void *)tick, (void *)tock);
    is_patched();
    for (int round = 0; round < 10; round++)
        sum += tick(round);
    printf("sum %ld\n", sum);
    return 0;
}
