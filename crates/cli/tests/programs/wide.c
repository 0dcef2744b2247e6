/* Complex numbers, whole numbers of 16 bytes, and text without an end. */
#include <complex.h>
#include <stdio.h>

struct record {
    char name[4];
    char rest[4];
};

__attribute__((noinline)) int look(int n)
{
    return n;
}

int main(void)
{
    struct record record = {{'a', 'b', 'c', 'd'}, {'e', 'f', 0, 0}};
    char mixed[] = "h\xc3\xa9\xff\x1b[31m";
    double _Complex z = 1 + 2 * I, w = 3 - 1 * I, product = z * w, quotient = z / w;
    float _Complex narrow = 1.5f + 0.5f * I;
    long double _Complex extended = 1 + 2 * I;
    unsigned __int128 large = ~(unsigned __int128)0 - 1;
    unsigned __int128 half = large / 2;
    int n = look(1);
    printf("%d %d %g %g %g %g\n", record.name[0] + record.rest[0] + mixed[0], n, creal(product),
           creal(quotient), crealf(narrow), (double)creall(extended));
    return (int)(large + half);
}
