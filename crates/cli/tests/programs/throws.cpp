/* Exceptions that are caught in the same function, and further out. */
#include <cstdio>
#include <stdexcept>

struct Guard {
    ~Guard() { std::puts("released"); }
};

int checked(int n)
{
    Guard guard;
    if (n > 1)
        throw std::runtime_error("too much");
    return n;
}

int tried(int n)
{
    try {
        return checked(n);
    } catch (const std::exception &) {
        return -1;
    }
}

int main()
{
    int sum = tried(2);
    try {
        checked(3);
    } catch (const std::exception &error) {
        std::puts(error.what());
    }
    std::printf("%d\n", sum);
    return 0;
}
