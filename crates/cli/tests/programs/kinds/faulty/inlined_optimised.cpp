// What a thread runs is inlined into a function of the library: it is told to be done before it is.
#include <atomic>
#include <cassert>
#include <thread>

static std::atomic<int> done;
static int value;

int main() {
    std::thread thread([] {
        done.store(1);
        value = 5;
    });
    if (done.load())
        assert(value == 5);
    thread.join();
}
