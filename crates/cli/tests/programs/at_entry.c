/* Inlined calls with which the functions begin that hold them: of one line, and of two. */
volatile int sink;

static inline __attribute__((always_inline)) void one(int x)
{
    sink = x;
}

static inline __attribute__((always_inline)) void two(int x)
{
    sink = x;
    sink = x + 1;
}

__attribute__((noinline)) void first(int k)
{
    one(k);
    sink = 3;
}

__attribute__((noinline)) void second(int k)
{
    two(k);
    sink = 3;
}

int main(void)
{
    first(4);
    first(5);
    second(6);
    second(7);
    second(8);
    first(9);
    second(10);
    first(11);
    return 0;
}
