// Functions of every sort of name: static, overloaded, virtual, of templates
// and of namespaces; and one that a library implements.
#include <cstdio>
#include <cstring>

namespace box {
template <typename Item> struct Queue {
    Item last{};
    int count = 0;
    __attribute__((noinline)) void push(Item item) {
        last = item;
        count++;
        __asm__ volatile("" ::: "memory");
    }
};
} // namespace box

struct Shape {
    int sides;
    explicit Shape(int n) : sides(n) {}
    virtual ~Shape() = default;
    __attribute__((noinline)) virtual int area(int scale) {
        __asm__ volatile("" ::: "memory");
        return scale;
    }
};

struct Square : Shape {
    Square() : Shape(4) {}
    __attribute__((noinline)) int area(int scale) override {
        __asm__ volatile("" ::: "memory");
        return scale * scale;
    }
};

__attribute__((noinline)) static long add(long a, long b) {
    __asm__ volatile("" : "+r"(a));
    return a + b;
}
__attribute__((noinline)) static double add(double a, double b) {
    __asm__ volatile("" : "+x"(a));
    return a + b;
}

int main() {
    box::Queue<int> numbers;
    box::Queue<const char *> words;
    for (int i = 0; i < 3; i++)
        numbers.push(i);
    words.push("one");
    Shape shape(3);
    Square square;
    Shape *volatile shapes[] = {&shape, &square, &square};
    long sum = 0;
    for (Shape *each : shapes)
        sum += each->area(5);
    sum = add(sum, 2L);
    double half = add(0.25, 0.25);
    std::printf("sum %ld half %g count %d\n", sum, half, numbers.count + words.count);
}
