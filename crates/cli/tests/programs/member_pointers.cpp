/* Pointers to members: of bases, virtual ones, in tables, null. */
struct Plain {
    int first;
    int second;
    unsigned flag : 3;
    union {
        int whole;
        float part;
    };
    int values[3];
    int add(int n) { return n + first; }
    int look(int n) const { return n + second; }
    int over(int) { return 1; }
    int over(double) { return 2; }
    static int count(int n) { return n; }
};
struct Named {
    const char *name;
    int Plain::*member;
    int (Plain::*function)(int);
};
namespace shapes {
struct Colored {
    int color = 1;
    virtual ~Colored() {}
    virtual int paint(int n) { return n + color; }
};
struct Sized {
    int size = 2;
    virtual int grow(int n) { return n + size; }
    int shrink(int n) { return size - n; }
};
struct Square : Colored, Sized {
    int side = 3;
    int grow(int n) override { return n * 10 + side; }
    virtual int corners() { return 4; }
};
struct Ground {
    int level = 7;
    virtual int depth() { return level; }
};
struct Tower : virtual Ground {
    int height = 8;
    int depth() override { return -level; }
};
template <typename T> struct Box {
    T inside;
    T outside;
};
}
using namespace shapes;
using Handler = int (Square::*)(int);

static int handle(Square *square, Handler handler, int n) { return (square->*handler)(n); }
static int member_of(const Plain *plain, int Plain::*member) { return plain->*member; }

int main()
{
    Plain plain{1, 2, 3, {4}, {5, 6, 7}};
    Plain *pointer = &plain;
    int Plain::*member = &Plain::second;
    int Plain::*none = nullptr;
    int Plain::*whole = &Plain::whole;
    int (Plain::*values)[3] = &Plain::values;
    int (Plain::*add)(int) = &Plain::add;
    int (Plain::*look)(int) const = &Plain::look;
    int (Plain::*over)(double) = &Plain::over;
    Named table[2] = {{"one", &Plain::first, add}, {"none", nullptr, nullptr}};
    Square square;
    Sized *sized = &square;
    Tower tower;
    Box<int> box{8, 9};
    int Square::*inherited = &Square::size;
    int Box<int>::*outside = &Box<int>::outside;
    int (Sized::*grow)(int) = &Sized::grow;
    Handler handlers[4] = {&Sized::grow, &Square::grow, &Sized::shrink, nullptr};
    int (Square::*corners)() = &Square::corners;
    int (Ground::*depth)() = &Ground::depth;
    int Sized::*further = static_cast<int Sized::*>(&Square::side);
    int sum = handle(&square, handlers[0], 1) + member_of(pointer, member) + (tower.*depth)();
    sum += (square.*corners)() + (plain.*add)(1) + (plain.*look)(1) + (plain.*over)(1.5);
    sum += pointer->*whole + (plain.*values)[1] + square.*inherited + box.*outside;
    sum += sized->*further + (sized->*grow)(1) + Plain::count(1) + plain.over(1);
    return sum > 0 && none == nullptr && table[1].member == nullptr ? 0 : 1; // here
}
