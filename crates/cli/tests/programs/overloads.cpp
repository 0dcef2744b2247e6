// Functions of one name: overloads, methods, templates, in several scopes.
#include <cstdio>
#include <string>
#include <vector>

#define KEEP __attribute__((noinline))

namespace geo {
struct Shape {
    int side = 2;
    virtual ~Shape() = default;
    KEEP virtual int area() const { return side; }
    KEEP int area(int scale) const { return side * scale; } // mark: scaled
};
struct Square : Shape {
    KEEP int area() const override { return side * side; } // mark: square
};
KEEP int area(int a) { return a; } // mark: int
KEEP double area(double a) { return a; } // mark: double
KEEP int area(const Shape &shape, unsigned long n) { return shape.area() * int(n); } // mark: shape
} // namespace geo

KEEP int area(const char *text) { return text[0]; } // mark: text
KEEP int area(const std::string &text) { return int(text.size()); } // mark: string
KEEP int area(const std::vector<int> &all, int (*choose)(int)) { return choose(all[0]); } // mark: vector

template <typename T> KEEP T largest(T a, T b) { return a > b ? a : b; } // mark: largest

template <typename T> struct Stack {
    std::vector<T> items;
    KEEP void push(T item) { items.push_back(item); } // mark: push
    KEEP int operator()(int n) const { return int(items.size()) + n; } // mark: call
};

static KEEP int twice(int n) { return 2 * n; } // mark: twice

int main() // mark: main
{
    geo::Square square;
    const geo::Shape &shape = square;
    Stack<int> numbers;
    Stack<double> fractions;
    numbers.push(3);
    fractions.push(0.5);
    int sum = shape.area() + shape.area(3) + geo::area(1) + int(geo::area(2.0));
    sum += geo::area(shape, 2) + area("a") + area(std::string("abc"));
    sum += area(numbers.items, twice) + largest(3, 4) + int(largest(0.5, 1.5));
    sum += numbers(1) + fractions(2);
    std::printf("%d\n", sum);
}

// Called at the prompt alone.
#define CALLED __attribute__((used, noinline))

struct Gauge {
    CALLED int measure(int n) const { return n; }
    CALLED double measure(double n) const { return n; }
    CALLED int measure(const char *text) const { return text[0]; }
    CALLED int measure(const geo::Shape &shape) const { return shape.side; }
    CALLED int mode() { return 1; }
    CALLED int mode() const { return 2; }
};

Gauge gauge;
__attribute__((used)) const Gauge fixed_gauge{};

// Templates of operators.
template <typename T> KEEP bool operator==(const Stack<T> &a, const Stack<T> &b) // mark: equal
{
    return a.items.size() == b.items.size();
}
template <typename T> KEEP bool operator<(const Stack<T> &a, const Stack<T> &b) // mark: less
{
    return a.items.size() < b.items.size();
}
template bool operator==(const Stack<int> &, const Stack<int> &);
template bool operator==(const Stack<double> &, const Stack<double> &);
template bool operator<(const Stack<int> &, const Stack<int> &);
