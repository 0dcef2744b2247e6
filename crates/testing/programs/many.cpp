/*
 * Calls each of 2 000 functions of one name: `many ROUNDS`.
 *
 * Prints the number of calls.
 */
#include <cstdio>
#include <cstdlib>
#include <utility>

static volatile int odd;

template <int NUMBER> __attribute__((noinline)) int work(int key, int n)
{
    int product = key * (NUMBER + 3) + n;

    if (product & 1)
        odd = product;
    return product ^ NUMBER;
}

template <int... NUMBERS> static long call_all(int key, std::integer_sequence<int, NUMBERS...>)
{
    long calls = 0;

    ((work<NUMBERS>(key, NUMBERS), calls++), ...);
    return calls;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? std::atoi(argv[1]) : 1;
    long calls = 0;

    for (int key = 0; key < rounds; key++)
        calls += call_all(key, std::make_integer_sequence<int, 2000>());
    std::printf("calls=%ld\n", calls);
}
