// Methods and instances of templates that the optimizer puts into their callers.
#include <cstdio>
#include <cstdlib>

static volatile unsigned entered_add, entered_larger_int, entered_larger_double;

template <typename T> static T larger(T one, T other);

template <> int larger<int>(int one, int other)
{
    entered_larger_int++;
    return one < other ? other : one;
}

template <> double larger<double>(double one, double other)
{
    entered_larger_double++;
    return one < other ? other : one;
}

class Account {
public:
    explicit Account(int start) : balance(start) {}
    void add(int amount)
    {
        entered_add++;
        balance += amount;
    }
    int balance;
};

__attribute__((noinline)) int turn(Account &account, int round)
{
    account.add(round);
    if (larger(round, 3) > 3)
        account.add(larger(account.balance, 20));
    return larger(round * 0.5, 1.25) > 2;
}

int main(int count, char **arguments)
{
    int rounds = count > 1 ? std::atoi(arguments[1]) : 10;
    Account account(1);
    int sum = 0;
    for (int round = 0; round < rounds; round++)
        sum += turn(account, round);
    std::printf("add %u int %u double %u\n", entered_add, entered_larger_int,
                entered_larger_double);
    return sum < 0;
}
