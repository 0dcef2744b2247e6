// What the C++ library keeps to be called, and what keeps threads apart.
#include <cstdio>
#include <functional>
#include <mutex>
#include <thread>

struct Adder {
    int by;
    int operator()(int n) const { return n + by; }
};

static int twice(int n) { return 2 * n; }

__attribute__((noinline)) void look(int count) {
    std::printf("looked %d\n", count);
}

int main() {
    std::function<int(int)> empty;
    std::function<int(int)> plain = twice;
    std::function<int(int)> object = Adder{3};
    std::mutex free;
    std::mutex held;
    held.lock();
    std::recursive_mutex again;
    again.lock();
    again.lock();
    std::thread none;
    std::thread running([] {});
    std::thread::id nobody;
    std::thread::id somebody = running.get_id();
    look(plain(1) + object(1));
    running.join();
    again.unlock();
    again.unlock();
    held.unlock();
    return somebody == nobody;
}
