// Calls whose results are the objects and arguments of further calls.
#include <functional>
#include <string>
#include <vector>
struct Cell {
    int a, b;
    ~Cell() { a = -1; }
    int sum() const { return a + b; }
    int operator()(int k) const { return a * k; }
};
struct Large {
    long v[5];
    long total() const {
        volatile long pad[64];
        for (volatile long &p : pad)
            p = 1;
        long t = pad[1] - 1;
        for (long x : v)
            t += x;
        return t;
    }
    long first() { return v[0]; }
    Large more(long n) const { return Large{{v[0] + n, v[1] + n, v[2] + n, v[3] + n, v[4] + n}}; }
};
struct Small {
    int x, y;
    int both() const { return x + y; }
    Small &self() { return *this; }
};
struct Mid {
    int a, b, c;
};
Cell cell(int n) { return Cell{n, n + 1}; }
Large large(long n) { return Large{{n, n + 1, n + 2, n + 3, n + 4}}; }
Small small(int n) { return Small{n, 2 * n}; }
Mid mid(int n) { return Mid{n, n + 1, n + 2}; }
std::function<int()> function(int a) {
    return [=] { return a; };
}
std::string text(int n) { return std::string(n, 'x'); }
std::vector<int> numbers(int n) { return std::vector<int>(n, 7); }
long by_value(Large l, int k) {
    volatile long pad[64];
    for (volatile long &p : pad)
        p = k;
    return l.v[0] + l.v[4] + pad[3] - k;
}
long by_reference(const Large &l, int k) {
    volatile long pad[64];
    for (volatile long &p : pad)
        p = k;
    return l.v[0] + l.v[4] + pad[3] - k;
}
int mid_reference(const Mid &m) { return m.a + m.c; }
int mid_changing(Mid &m) { return ++m.a; }
long length(const std::string &s) {
    volatile char pad[200];
    for (volatile char &p : pad)
        p = 1;
    return (long)s.size() + pad[3] - 1;
}

struct Box {
    long n = 7;
    long get() const { return n; }
    long add(long k) { return n + k; }
    void reset() { n = 0; }
};
void look() {}
int take_bytes(const char *p) { return p[0]; }
int take_numbers(const int *p) { return p[0]; }
int main() {
    Box b;
    Box *p = &b;
    Box *&rp = p;
    Box &rb = b;
    const Box *const &crp = p;
    int n = 5, *q = &n, *&rq = q;
    int a[3] = {1, 2, 3};
    int(&ra)[3] = a;
    const char *letters = "abc";
    look();
    long r = cell(1).sum() + large(1).total() + small(2).both() + function(5)() + text(30).size();
    r += numbers(3)[1] + cell(2)(3) + large(3).first() + large(1).more(2).v[1] + small(1).self().x;
    Mid m = mid(1);
    r += by_value(large(1), 2) + by_reference(large(1), 2) + mid_reference(mid(2)) + length(text(3));
    r += mid_changing(m) + rp->get() + rb.add(1) + crp->get() + *rq + ra[1] + take_bytes(letters);
    r += take_numbers(q);
    if (r == 0)
        b.reset();
    return r == 0 ? (int)p->n : 0;
}
