/* The function of keyed.c, for a library. */
int use(long key, int n)
{
    __asm__ volatile("" : "+r"(n) : "r"(key) : "memory");
    return n & 7;
}
