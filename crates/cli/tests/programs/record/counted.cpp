// A value that goes through an object, a container and a virtual call.
#include <cstdio>
#include <cstdlib>
#include <vector>

struct Rate {
    virtual ~Rate() = default;
    virtual long of(long amount) const = 0;
};

struct Half : Rate {
    long of(long amount) const override { return amount / 2; }
};

long result;

__attribute__((noinline)) void done() {}

int main(int, char **arguments) {
    std::vector<long> amounts;
    amounts.push_back(std::atol(arguments[1]));
    amounts.push_back(8);
    Half half;
    const Rate &rate = half;
    for (int i = 0; i < 30; i++)
        amounts.push_back(i);
    result = rate.of(amounts[1]);
    done();
    std::printf("%ld\n", result);
}
