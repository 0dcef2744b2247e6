// Calls that were inlined, and of whose lines nothing else is left: the second line of the
// statement in `weigh` has no row in the line table, nor has that of a call in a branch.
#include <cstdio>

struct Box {
    int weight;
    int read() const { return weight; }
};

volatile int sink;

static inline int sum(int count)
{
    int found = count;
    for (int i = 0; i < count; i++)
        found += sink;
    return found;
}

static inline int product(int count)
{
    int found = 1;
    for (int i = 0; i < count; i++)
        found += found * sink;
    return found;
}

__attribute__((noinline)) int weigh(const Box &box)
{
    sink = 2;
    return
        sum(
            box.read());
}

__attribute__((noinline)) int choose(const Box &box, int kind)
{
    sink = 3;
    return kind > 1
        ? sum(box.weight)
        : product(box.weight);
}

int main()
{
    Box box = {3};
    int found = 0;
    for (int kind = 0; kind < 4; kind++)
        found += choose(box, kind) + weigh(box);
    std::printf("%d\n", found);
}
