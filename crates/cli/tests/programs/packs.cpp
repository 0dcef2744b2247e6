// Functions with parameter packs, instances of templates and function objects. It prints
// how often `tell` and `last` were called, and the sum of what they were given last.
#include <cstdio>

template <class... Rest> __attribute__((noinline)) int tell(int level, Rest... rest) {
    asm volatile("" : : : "memory");
    return (level + ... + static_cast<int>(rest));
}

template <class Last, class... Rest> __attribute__((noinline)) int last(Rest... rest, Last end) {
    asm volatile("" : : : "memory");
    return (end + ... + rest);
}

template <class... Rest> static inline __attribute__((always_inline)) int inlined(int level, Rest... rest) {
    volatile int sum = (level + ... + rest);
    return sum;
}

// The parameters of the inner call have the names of the outer one in another order.
static inline __attribute__((always_inline)) int inner(int right, int left) {
    volatile int difference = right - left;
    return difference;
}

static inline __attribute__((always_inline)) int outer(int left, int right) {
    return inner(right, left) + 1;
}

struct Counter {
    int base = 5;
    template <class T> __attribute__((noinline)) T twice(T value) { return value * 2 + base; }
    template <class T> __attribute__((noinline)) static T next(T value) { return value + 1; }
    template <class... Rest> __attribute__((noinline)) int many(Rest...) { return sizeof...(Rest); }
};

template <class T> __attribute__((noinline)) T later(T value) { return value + 10; }

__attribute__((noinline)) void look() { asm volatile("" : : : "memory"); }

int main() {
    Counter counter;
    int three = 3;
    auto any = [&three](auto value) { return three + value; };
    auto both = [](auto first, auto second) { return first - second; };
    auto plain = [three](int value) { return three * value; };
    int sum = static_cast<int>(any(2.5) + any(1) + both(1, 2) + plain(1));
    sum += static_cast<int>(counter.twice(1.5)) + counter.twice(1) + Counter::next(1);
    sum += counter.many(1, 2) + counter.many() + later(1) + static_cast<int>(later(1.5));
    int ends = 0;
    for (int i = 0; i < 3; i++) {
        sum += tell(i, 10 + i, 2.5) + inlined(i, 7 + i, 8 + i) + outer(20 + i, 50 + i);
        ends = last<int, int, int>(i, 2 + i, 40 + i);
    }
    look();
    printf("told 3 ended 3 ends %d sum %d\n", ends, sum);
    return 0;
}
