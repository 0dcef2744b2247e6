/* Classes and references, for calls from the prompt. */
struct Shape {
    int sides = 3;
    int count(int more) const;
};
int Shape::count(int more) const { return sides + more; }

struct Owner {
    int value;
    explicit Owner(int value) : value(value) {}
    Owner(const Owner &other) : value(other.value) {}
    ~Owner() { value = -1; }
};

namespace ns {
int inside(int n) { return n * 2; }
}

int twice(const int &n) { return n * 2; }
int grow(int &n) { return ++n; }
int owned(Owner owner) { return owner.value; }
Owner make(int value) { return Owner(value); }

void stop(void) { asm volatile(""); }

int main()
{
    Shape shape;
    Owner owner(5);
    int number = 21;
    stop();
    return shape.count(number) + twice(1) + grow(number) + owned(owner) + make(1).value + ns::inside(1) > 0 ? 0 : 1;
}
