// A call is followed by the end of an object whose destructor has no code: copies of it
// that are inlined, and empty, begin where the call returns to.

#include <cstdio>

struct Base {
    int stock = 3;
    virtual ~Base() {}
};

struct Stock : virtual Base {
    int sold = 0;
};

__attribute__((noinline)) int sell(Base *base, int count) {
    base->stock -= count;
    std::printf("%d\n", base->stock);
    return base->stock;
}

int main() {
    {
        Stock stock;
        sell(&stock, 1);
        sell(&stock, 2);
    }
    return 0;
}
