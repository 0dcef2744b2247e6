/* A loop whose condition gcc puts at its end, with a call that is inlined. */
volatile int sink;

static inline int square(int x)
{
    int y = x * x;
    sink = y;
    return y;
}

__attribute__((noinline)) int next(int x)
{
    sink = x;
    return x + 1;
}

__attribute__((noinline)) int loop(int n)
{
    int s = 0;
    for (int i = 0; i < n; i++) {
        s += square(i);
        if (s & 1)
            s += next(s);
    }
    return s;
}

int main(void)
{
    return loop(4) != 16;
}
