// Calls inside calls: plain, inlined, virtual, by pointers, by function objects.
#include <cstdio>
#include <functional>
#include <stdexcept>

#define KEEP __attribute__((noinline))

KEEP int g(int n)
{
    return n + 1;
}

KEEP int f(int n)
{
    return 2 * n;
}

static inline __attribute__((always_inline)) int small(int n)
{
    return n - 1;
}

struct Base {
    virtual ~Base() = default;
    virtual int weight(int n) = 0;
};

struct Heavy : Base {
    KEEP int weight(int n) override
    {
        return 10 * n;
    }
};

KEEP int thrower(int n)
{
    if (n > 1)
        throw std::runtime_error("large");
    return n;
}

int main()
{
    int sum = f(g(1));
    sum += f(small(sum));
    Heavy heavy;
    Base *volatile base = &heavy;
    sum += base->weight(2);
    int (*volatile pointer)(int) = g;
    sum += pointer(3);
    std::function<int(int)> object = f;
    sum += object(4);
    auto closure = [sum](int n) {
        return n + sum;
    };
    sum += closure(5);
    try {
        sum += thrower(2);
    } catch (const std::exception &error) {
        sum += 1;
    }
    for (int i = 0; i < 1000000; i++) sum ^= i;
    std::printf("%d\n", sum);
    return 0;
}
