// Names that several scopes have: each block says what the language means by them.

namespace lib {
namespace in {
int deep = 6;
}
inline namespace v2 {
int total = 40;
}
int once = 41;
int twice(int k) { return 2 * k; }
} // namespace lib

namespace al = lib::in;

int v = 31;
int w = 6;
int only_global = 1;
int pick(int) { return 100; }

namespace N {
int v = 30;
static int hidden = 32;
int pick(char) { return 200; }
int pick(int) { return 201; }
struct P {
    int x;
};
int associated(P p) { return p.x + 1000; }
} // namespace N

struct Base {
    static int shared;
    static const int constant = 9;
    enum { inner = 12 };
    int field = 50;
};
int Base::shared = 51;
int shared = 1;
int field = 2;
int inner = 3;
int constant = 4;

template <class T> struct Holder {
    static int count;
    static constexpr int limit = 8;
    T value;
};
template <class T> int Holder<T>::count = 70;

struct Left {
    int x = 1;
    int get() { return 1; }
};
struct Right {
    int x = 2;
    int get() { return 2; }
};
struct Both : Left, Right {
    int y = 3;
};

void look() {}

namespace N {
struct S : Base {
    static int w;
    static constexpr int limit = 4;
    int own = 60;
    int helper() const { return own + 1; }
    int method() {
        look();
        auto closure = [this](int k) {
            look();
            return own + w + k;
        };
        return v + w + own + shared + constant + inner + limit + helper() + closure(1);
    }
};
int S::w = 5;
int here() {
    look();
    return v + hidden;
}
int by_using() {
    using namespace lib;
    using lib::once;
    look();
    return once + total + twice(1) + al::deep;
}
int by_extern() {
    int v = 7;
    look();
    {
        extern int v;
        look();
        return v;
    }
    return v;
}
} // namespace N

int main() {
    N::S s;
    Both both;
    N::P p{3};
    Holder<int> h{1};
    int result = N::here() + N::by_using() + N::by_extern() + s.method();
    look();
    result += both.y + N::associated(p) + pick(1) + h.value + h.count + h.limit + only_global;
    result += both.Left::get() + both.Right::get() + N::pick('a') + N::pick(1) + field + inner;
    return result == 0 || constant == 0 || shared == 0 || w == 0;
}
