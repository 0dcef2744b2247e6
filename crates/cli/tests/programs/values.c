/* Values of all sorts to print. */
#include <stddef.h>

enum color { RED, GREEN = 5, BLUE };
enum { LIMIT = 12 };
union both {
    int whole;
    float real;
};
struct inner {
    short a;
    char name[8];
};
struct item {
    int number;
    unsigned low : 3, high : 5;
    enum color color;
    union both both;
    struct inner inner;
    struct item *next;
    double weights[3];
};

int table[2][3] = { { 1, 2, 3 }, { 4, 5, 6 } };
const char *text = "say \"hi\"\n";

static int look(struct item *item, int numbers[], unsigned char byte)
{
    return item->number + numbers[0] + byte + LIMIT;
}

int main(void)
{
    struct item second = { 8, 1, 2, RED, { 0 }, { 1, "z" }, NULL, { 0, 0, 0 } };
    struct item first = { 7, 5, 17, BLUE, { 1 }, { -2, "abc" }, &second, { 1.5, 2.5, -3 } };
    int numbers[] = { 10, 20, 30, 40, 50, 60 };
    return look(&first, numbers, 200) != 229;
}
