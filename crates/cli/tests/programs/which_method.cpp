// Destructors that destroy objects of their own class, virtual functions of several bases, and
// coroutines. The program counts the calls in their bodies.
#include <coroutine>
#include <cstdio>
#include <string>

static long trees, nodes, cursors, peers, parts, writes, reads, steps_calls;

#define NOINLINE __attribute__((noinline))

struct Tree {
    Tree *left, *right;
    Tree(Tree *a, Tree *b) : left(a), right(b) {}
    ~Tree() { trees++; delete left; delete right; }
};
NOINLINE Tree *grow(int depth)
{
    return depth ? new Tree(grow(depth - 1), grow(depth - 1)) : nullptr;
}

struct Node {
    Node *left, *right;
    Node(Node *a, Node *b) : left(a), right(b) {}
    virtual ~Node() { nodes++; delete left; delete right; }
};
NOINLINE Node *grow_nodes(int depth)
{
    return depth ? new Node(grow_nodes(depth - 1), grow_nodes(depth - 1)) : nullptr;
}

struct Base {
    virtual ~Base() {}
    virtual int number() = 0;
};
struct Cursor : Base {
    Base *inner;
    int k;
    std::string name;
    Cursor(Base *of, int n) : inner(of), k(n), name(n * 40, 'x') {}
    ~Cursor() override { cursors++; delete inner; }
    int number() override { return k + (inner ? inner->number() : 0); }
};
NOINLINE Base *wrap(Base *inner, int n) { return new Cursor(inner, n); }
NOINLINE void drop(Base *it) { delete it; }

struct Peer {
    Peer *peer;
    int k;
    Peer() : peer(nullptr), k(0) { peers++; }
    explicit Peer(int n) : peer(new Peer()), k(n) { peers++; }
    Peer(const Peer &of) : peer(of.peer ? new Peer(*of.peer) : nullptr), k(of.k) { peers++; }
    ~Peer() { delete peer; }
};
NOINLINE Peer *build(int k) { return new Peer(k); }
NOINLINE Peer *copy(Peer *of) { return new Peer(*of); }

struct Part { virtual ~Part() {} int n = 0; };
struct Shared : virtual Part {
    Shared *next;
    explicit Shared(Shared *of) : next(of) {}
    ~Shared() override { parts++; delete next; }
};

struct Source { virtual ~Source() = default; virtual int read() = 0; int opened = 1; };
struct Sink { virtual ~Sink() = default; virtual int write(int value) = 0; int written = 0; };
struct Pipe : Source, Sink {
    int last = 0;
    int read() override;
    int write(int value) override;
};
int Pipe::read() { reads++; return last; }
int Pipe::write(int value) { writes++; last = value; return ++written; }
NOINLINE int fill(Sink *sink, int value) { int n = sink->write(value); return n + 1; }
NOINLINE int take(Source *source) { return source->read(); }

struct Steps {
    struct promise_type {
        int value = 0;
        Steps get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(int v) { value = v; return {}; }
        void return_void() {}
        void unhandled_exception() {}
    };
    std::coroutine_handle<promise_type> handle;
};
NOINLINE Steps steps(int from)
{
    co_yield from + 1;
    co_yield from + 2;
}
NOINLINE int sum_of(int from)
{
    steps_calls++;
    Steps all = steps(from);
    int sum = 0;
    for (; !all.handle.done(); all.handle.resume())
        sum += all.handle.promise().value;
    all.handle.destroy();
    return sum;
}

int main(int argc, char **)
{
    int sum = 0;
    delete grow(4);
    delete grow_nodes(4);
    drop(wrap(wrap(wrap(nullptr, argc), 2), 3));
    for (int i = 0; i < 3; i++) {
        Peer *a = build(argc), *b = copy(a);
        delete a;
        delete b;
    }
    delete static_cast<Part *>(new Shared(new Shared(new Shared(nullptr))));
    Shared on_stack(new Shared(nullptr));
    Pipe *pipe = new Pipe;
    for (int i = 0; i < 3; i++)
        sum += fill(pipe, 10 * i);
    sum += pipe->write(7) + take(pipe) + pipe->read();
    sum += sum_of(argc) + sum_of(5);
    on_stack.next = (delete on_stack.next, nullptr);
    std::printf("trees %ld nodes %ld cursors %ld peers %ld parts %ld\n", trees, nodes, cursors,
                peers, parts + 1);
    std::printf("writes %ld reads %ld steps %ld sum %d\n", writes, reads, steps_calls, sum);
}
