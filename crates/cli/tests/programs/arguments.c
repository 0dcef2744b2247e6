// Arguments of every class, so that a property can read them back.
#include <stdio.h>

struct pair {
    int first;
    long second;
};
struct big {
    long words[5];
    int tail;
};
struct node {
    struct node *next;
    int value;
    unsigned flags : 3;
    signed level : 5;
    char name[8];
};

static int counter = 41;

__attribute__((noinline)) long mixed(int a, double b, char c, float d, short e, unsigned long f,
                                     _Bool g, long h, long i, int j) {
    __asm__ volatile("");
    return a + (long)b + c + (long)d + e + (long)f + g + h + i + j;
}

__attribute__((noinline)) long by_value(struct pair p, struct big b, int last) {
    __asm__ volatile("");
    return p.first + p.second + b.words[4] + b.tail + last;
}

__attribute__((noinline)) int by_pointer(struct node *list, const char *text, int **out) {
    counter++;
    **out = list->next->value;
    __asm__ volatile("" ::: "memory");
    return text[0];
}

__attribute__((noinline)) double half(double x) {
    __asm__ volatile("" : "+x"(x));
    return x / 2;
}

__attribute__((noinline)) int caller(int inside) {
    int local = inside * 10;
    __asm__ volatile("" : "+m"(local));
    return (int)half(local) + local;
}

int main(void) {
    struct node second = {0, 22, 5, -3, "second"};
    struct node first = {&second, 11, 2, 7, "first"};
    int result = 0;
    int *pointer = &result;
    struct pair pair = {-5, 6000000000};
    struct big big = {{1, 2, 3, 4, 500}, 77};
    long sum = mixed(-1, 2.5, 'c', 0.5f, -4, 18446744073709551615ul, 1, 8, 9, -10);
    sum += by_value(pair, big, 3);
    sum += by_pointer(&first, "hello", &pointer);
    sum += caller(4);
    printf("%ld %d %d\n", sum, result, counter);
    return 0;
}
