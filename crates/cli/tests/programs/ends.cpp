/* Calls with a local variable that end without a return: by a jump, by an
   exception. Prints how often each came back. */
#include <csetjmp>
#include <cstdio>
#include <stdexcept>

static std::jmp_buf place;
int volatile depth;

__attribute__((noinline)) void deeper(int n)
{
    if (n == 1)
        std::longjmp(place, 1);
    if (n == 2)
        throw std::runtime_error("enough");
    depth = depth + n;
}

__attribute__((noinline)) void left(int n)
{
    int volatile local = n;
    deeper(0);
    local = local + 1;
    deeper(n);
    local = 77;
}

__attribute__((noinline)) int jumps()
{
    if (setjmp(place) == 0)
        left(1);
    else
        return 1; /* after the jump */
    return 0;
}

__attribute__((noinline)) int catches()
{
    try {
        left(2);
    } catch (const std::exception &) {
        return 1; /* after the exception */
    }
    return 0;
}

int main()
{
    int jumped = jumps();
    int caught = catches();
    std::printf("%d %d %d\n", jumped, caught, depth);
    return jumped + caught != 2;
}
