// A notification for one of two kinds of waiters.
#include <condition_variable>
#include <mutex>
#include <thread>

static std::mutex lock;
static std::condition_variable changed;
static int value;

static void wait_for(int wanted) {
    std::unique_lock<std::mutex> held(lock);
    changed.wait(held, [wanted] { return value == wanted; });
    value = 0;
    changed.notify_one();
}

static void set(int wanted) {
    std::unique_lock<std::mutex> held(lock);
    changed.wait(held, [] { return value == 0; });
    value = wanted;
    changed.notify_one();
}

int main() {
    std::thread one(wait_for, 1), two(wait_for, 2), writer([] {
        set(1);
        set(2);
    });
    one.join();
    two.join();
    writer.join();
}
