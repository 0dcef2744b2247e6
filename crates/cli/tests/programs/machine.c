/* Values of many kinds, a stack, and threads, for commands about the machine. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <uchar.h>
#include <wchar.h>

int ints[5] = {1, -2, 3, -4, 255};
unsigned char bytes[4] = {0, 65, 200, 255};
char letters[6] = "hello";
float floats[3] = {1.5f, -0.1f, 3e10f};
double doubles[2] = {0.5, 100};
wchar_t wide[8] = L"wide \u00e4";
const wchar_t *wide_pointer = L"pointer";
char16_t units[8] = u"\u20ac 5";
char32_t points[4] = U"z\U0001f600";
unsigned short half = 65533;
int *int_pointer = &ints[1];
int table[4] = {10, 20, 30, 40};
static volatile int is_over;

const char *name_of(int n) { return n ? "one" : "zero"; }

const wchar_t *wide_name(const wchar_t *name) { return name[0] == L'p' ? wide : wide_pointer; }

__attribute__((noinline)) double leaf(double first, float second, int n)
{
    asm volatile("nop" : : "x"(first), "x"(second) : "memory");
    return first + (double)second + n;
}

__attribute__((noinline)) int middle(int n)
{
    volatile int kept = n * 2;
    volatile double first = 2.5;
    volatile float second = 0.25f;
    return (int)leaf(first, second, kept) + kept;
}

static void *wait_there(void *barrier)
{
    pthread_barrier_wait(barrier);
    pthread_barrier_wait(barrier);
    return 0;
}

int main(void)
{
    pthread_barrier_t barrier;
    pthread_t thread;
    pthread_barrier_init(&barrier, 0, 2);
    pthread_create(&thread, 0, wait_there, &barrier);
    pthread_barrier_wait(&barrier);
    int result = middle(4);
    pthread_barrier_wait(&barrier);
    pthread_join(thread, 0);
    printf("%d %s %d\n", result, name_of(result), wide_name(wide_pointer)[0] + is_over + table[1]);
    return 0;
}
