// For commands that lead elsewhere: jump, return, signal; and for texts.
#include <signal.h>
#include <stdio.h>

struct point {
    int x, y;
};

static volatile int handled;
static const char *name = "ann";

static void on_signal(int number)
{
    handled = number;
}

static int weigh(int n)
{
    int weight = 10 * n;
    return weight + 1;
}

static long outer(int n)
{
    long inside = weigh(n);
    return inside * 2;
}

int main(void)
{
    struct point p = {3, -4};
    double ratio = 0.25;
    signal(SIGUSR1, on_signal);
    int sum = p.x;
    sum += 100;
    sum += 1000;
    long total = outer(2);
    printf("%d %ld %d %g\n", sum, total, handled, ratio);
    return name[0] == 'a' ? 0 : 1;
}
