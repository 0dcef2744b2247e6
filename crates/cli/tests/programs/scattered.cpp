// Inlined calls that are told to begin at code of another one: their own is before it, or
// behind it.
volatile int sink;

struct Vec {
    int x, y;
    int dot(const Vec &o) const { return x * o.x + y * o.y; }
    Vec operator+(const Vec &o) const { return Vec{x + o.x, y + o.y}; }
};

template <class T> inline T twice(T t)
{
    sink = 1;
    return t + t;
}

__attribute__((noinline)) int work(Vec a, Vec b)
{
    Vec c = twice(a);
    sink = c.x;
    return c.dot(b);
}

struct Guard {
    int v;
    Guard(int n) : v(n) { sink = n; }
    ~Guard() { sink = -v; }
};

__attribute__((noinline)) int guarded(int n)
{
    Guard g(n);
    sink = 7;
    return n + 1;
}

int main()
{
    int t = work(Vec{1, 2}, Vec{3, 4});
    t += guarded(3);
    return t != 26;
}
