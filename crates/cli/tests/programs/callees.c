/* Functions to call from the prompt: each way in which values are passed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct small { int a; char b; };
struct mixed { double d; long l; };
struct large { long a[5]; };
enum color { RED, GREEN = 5 };

long calls;
jmp_buf place;
struct large numbers = {{10, 20, 30, 40, 50}};
struct mixed mix = {1.5, 3};
const char *name = "hello";
float quarter = 0.25f;

int sum(int a, int b) { return a + b; }
int (*pointer)(int, int) = sum;
double half(double x) { return x / 2; }
float halff(float x) { return x / 2; }
long double third(long double x) { return x / 3; }
struct small make_small(int a, char b) { struct small s = {a, b}; return s; }
struct mixed make_mixed(double d, long l) { struct mixed s = {d, l}; return s; }
struct large make_large(long first) { struct large s = {{first, 2, 3, 4, 5}}; return s; }
int sum_small(struct small s) { return s.a + s.b; }
double sum_mixed(struct mixed m) { return m.d + m.l; }
long sum_large(struct large s, int more) { return s.a[0] + s.a[4] + more; }
enum color next_color(enum color c) { return c == RED ? GREEN : RED; }
_Bool is_even(unsigned char c) { return c % 2 == 0; }
char first(const char *text) { return text[0]; }
const char *skip(const char *text, int count) { return text + count; }
int digits(int a, int b, int c, int d, int e, int f, int g, int h)
{
    return a + 10 * b + 100 * c + 1000 * d + 10000 * e + 100000 * f + 1000000 * g + 10000000 * h;
}
double total(int count, ...)
{
    va_list list;
    double sum = 0;
    va_start(list, count);
    for (int i = 0; i < count; i++)
        sum += va_arg(list, double);
    va_end(list);
    return sum;
}
void reset(void) { calls = 0; }
long next(void) { return ++calls; }

long factorial(long n)
{
    if (n <= 1)
        return 1;
    return n * factorial(n - 1);
}
void crash(void) { *(volatile int *)calls = 1; }
void jump(void) { longjmp(place, 1); }
void leave(int status) { exit(status); }

int main(void)
{
    if (setjmp(place)) {
        puts("jumped");
        return 9;
    }
    long product = factorial(3);
    printf("%ld\n", product);
    return 0;
}
