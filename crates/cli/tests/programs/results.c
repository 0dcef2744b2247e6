/* Functions whose results are in all places that there are for them. */
#include <stdio.h>

struct pair {
    int first;
    double second;
};

struct words {
    long low, high;
};

struct large {
    long words[3];
};

struct wrapped {
    long double inside;
};

static struct words kept = {11, 12};
static struct large wide = {{1, 2, 3}};
static struct pair chosen = {7, 0.5};
static struct wrapped other = {-2.5L};
static _Complex long double turned = 3.0L + 4.0iL;

__attribute__((noinline)) long double precise(long double x) { return x * 2; }
__attribute__((noinline)) struct wrapped wrap(long double x) { return (struct wrapped){x}; }
__attribute__((noinline)) _Complex long double turn(long double x) { return x * 1.0iL; }
__attribute__((noinline)) struct pair make_pair(int x) { return (struct pair){x, x}; }
__attribute__((noinline)) struct words make_words(long x) { return (struct words){x, x}; }
__attribute__((noinline)) struct large make_large(long x) { return (struct large){{x, x, x}}; }

int main(void)
{
    long double x = precise(1.25L);
    struct wrapped w = wrap(x);
    _Complex long double t = turn(w.inside);
    struct pair p = make_pair(1);
    struct words v = make_words(2);
    struct large l = make_large(3);
    x += precise(x);
    printf("%Lg %Lg %Lg%+Lgi %d %g %ld %ld %ld\n", x, w.inside, __real__ t, __imag__ t, p.first,
           p.second, v.low, v.high, l.words[2]);
    return wide.words[0] + kept.low + chosen.first + other.inside + __real__ turned > 0 ? 0 : 1;
}
